import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireLock } from '../../lib/file-lock.ts';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { pathInTrash } from './remove-tree.ts';
import { defaultTreeLimits } from './tree-limits.ts';
import { checkRefs, fetchRefs, type RepositoryAccess } from '../git/remote.ts';

/** Organization and repository that identify a mirror. */
export type MirrorOf = Pick<RepositoryAccess, 'organizationId' | 'repository'>;

const headsAndTags = ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];
const packsBeforeRepack = 40;
const repackTimeoutMs = 15 * 60_000;
/** A half-made mirror that is older was left by a killed worker. */
export const abandonedAfterMs = 24 * 60 * 60_000;

/** Returns the name that a mirror and its lock share. */
export function mirrorNameOf({ organizationId, repository }: MirrorOf): string {
  return createHash('sha256').update(`${organizationId} ${repository}`).digest('hex').slice(0, 32);
}

/**
 * One bare copy of each repository per organization and worker machine. Objects are only ever added to it. A mirror is
 * never shared between organizations, so that no organization can read what only another one may.
 */
export type Mirrors = ReturnType<typeof createMirrors>;

/** Creates the store of mirrors in a directory that several processes may share. */
export function createMirrors({
  git,
  directory,
  maxRefs = defaultTreeLimits.files,
}: {
  git: Git;
  directory: string;
  maxRefs?: number;
}) {
  const locks = join(directory, 'locks');
  const mirrors = join(directory, 'mirrors');
  const directoryOf = (mirror: MirrorOf): string => join(mirrors, `${mirrorNameOf(mirror)}.git`);
  const suspicionOf = (mirror: MirrorOf) => join(mirrors, `${mirrorNameOf(mirror)}.suspect`);

  /** Reports whether the mirror exists and has not been marked as damaged. */
  function isUsable(mirror: MirrorOf): boolean {
    return existsSync(join(directoryOf(mirror), 'HEAD')) && !existsSync(suspicionOf(mirror));
  }

  async function exclusively<Result>(access: RepositoryAccess, work: () => Promise<Result>): Promise<Result> {
    for (const folder of [locks, mirrors]) await mkdir(folder, { recursive: true, mode: 0o700 });
    using _lock = await acquireLock(join(locks, `mirror-${mirrorNameOf(access)}.lock`), access);
    return await work();
  }

  async function initialise(gitDir: string, signal: AbortSignal): Promise<void> {
    await mkdir(gitDir, { recursive: true, mode: 0o700 });
    const args = ['init', '--bare', '--quiet', '--template=', '--object-format=sha1', '--initial-branch=main'];
    await git.run({ gitDir, args, signal });
  }

  /** Creates the mirror if it does not exist, without contacting the remote. */
  async function ensure(access: RepositoryAccess): Promise<string> {
    const gitDir = directoryOf(access);
    const exists = () => existsSync(join(gitDir, 'HEAD'));
    if (exists()) return gitDir;
    return await exclusively(access, async () => {
      if (exists()) return gitDir;
      const half = await pathInTrash(directory);
      await initialise(half, access.signal);
      await rename(half, gitDir);
      return gitDir;
    });
  }

  async function fetch(gitDir: string, access: RepositoryAccess, refspecs: readonly string[]): Promise<void> {
    const isAll = refspecs === headsAndTags;
    if (isAll) await checkRefs(git, { gitDir, access, max: maxRefs });
    await fetchRefs(git, { ...access, gitDir, refspecs, options: isAll ? ['--force', '--prune'] : ['--force'] });
  }

  /** Replaces the mirror in place: running readers find the same objects under the same path afterwards. */
  async function rebuild(access: RepositoryAccess): Promise<void> {
    const gitDir = directoryOf(access);
    const half = await pathInTrash(directory);
    const old = await pathInTrash(directory);
    try {
      await initialise(half, access.signal);
      await fetch(half, access, headsAndTags);
      if (existsSync(gitDir)) await rename(gitDir, old);
      await rename(half, gitDir);
      await rm(suspicionOf(access), { force: true });
    } finally {
      await rm(half, { recursive: true, force: true });
      await rm(old, { recursive: true, force: true });
    }
  }

  async function refreshLocked(access: RepositoryAccess): Promise<void> {
    if (!isUsable(access)) return await rebuild(access);
    const gitDir = directoryOf(access);
    try {
      await fetch(gitDir, access, headsAndTags);
      await git.run({ gitDir, args: ['rev-list', '--all', '--max-count=1', '--quiet'], signal: access.signal });
    } catch (error) {
      if (!(error instanceof GitError && error.kind === 'corrupt')) throw error;
      return await rebuild(access);
    }
    await maintain(gitDir, access.signal);
  }

  /** Repacks many small packs without losing objects, and removes the leftovers of killed fetches. */
  async function maintain(gitDir: string, signal: AbortSignal): Promise<void> {
    const packs = join(gitDir, 'objects', 'pack');
    const names = await readdir(packs);
    for (const name of names.filter((name) => name.startsWith('tmp_'))) {
      const { mtimeMs } = await stat(join(packs, name));
      if (Date.now() - mtimeMs > abandonedAfterMs) await rm(join(packs, name), { force: true });
    }
    if (names.filter((name) => name.endsWith('.pack')).length <= packsBeforeRepack) return;
    await git.run({
      gitDir,
      args: ['repack', '-a', '-d', '--keep-unreachable', '--quiet'],
      timeoutMs: repackTimeoutMs,
      signal,
    });
  }

  async function has(access: RepositoryAccess, commit: string): Promise<boolean> {
    const { signal } = access;
    const gitDir = directoryOf(access);
    const args = ['cat-file', '-e', `${commit}^{commit}`];
    if (!isUsable(access)) return false;
    return (await git.run({ gitDir, args, acceptedExitCodes: [1, 128], signal })).exitCode === 0;
  }

  /** Records that the mirror is in use: the least recently used mirrors are removed first. */
  async function markUsed(mirror: MirrorOf): Promise<void> {
    const now = new Date();
    await utimes(join(directoryOf(mirror), 'HEAD'), now, now).catch(() => undefined);
  }

  /** Ensures that the mirror has the commit; contacts the remote only if it does not. */
  async function ensureCommit(access: RepositoryAccess, commit: string): Promise<void> {
    await markUsed(access);
    if (await has(access, commit)) return;
    await exclusively(access, async () => {
      if (await has(access, commit)) return;
      await refreshLocked(access);
      if (await has(access, commit)) return;
      // No branch contains it any more; most servers still serve a commit that is requested by its id
      await fetch(directoryOf(access), access, [`+${commit}:refs/docket/${commit}`]);
      if (!(await has(access, commit))) throw new GitError('ref-not-found');
    });
  }

  /** Runs work that reads a commit of the mirror. Ensures the commit, and repeats the work, only if it is not there. */
  const reading = async <Result>(
    access: RepositoryAccess,
    commit: string,
    work: (gitDir: string) => Promise<Result>,
  ): Promise<Result> => {
    const gitDir = directoryOf(access);
    if (isUsable(access)) {
      await markUsed(access);
      try {
        return await work(gitDir);
      } catch (error) {
        if (!(error instanceof GitError && error.kind === 'corrupt')) throw error;
      }
    }
    await ensureCommit(access, commit);
    return await work(gitDir);
  };

  return {
    directoryOf,
    isUsable,
    ensure,
    has,
    ensureCommit,
    reading,
    /** Updates branches and tags; rebuilds a damaged mirror. */
    refresh: (access: RepositoryAccess): Promise<void> => exclusively(access, () => refreshLocked(access)),
    /** Marks the mirror as damaged, so that the next use rebuilds it. */
    suspect: async (mirror: MirrorOf): Promise<void> => {
      await mkdir(mirrors, { recursive: true, mode: 0o700 });
      await writeFile(suspicionOf(mirror), '');
    },
  };
}
