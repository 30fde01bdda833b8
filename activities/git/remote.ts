import { isAbsolute } from 'node:path';
import type { Git, RemoteCredential } from './git.ts';
import { sshServerOf } from '../../lib/inputs/ssh-keys.ts';
import { parseRef } from '../../lib/inputs/ref.ts';
import { GitError } from './git-error.ts';
import { localReceivePack, localUploadPack, type Transport } from './git-environment.ts';
import { tooLarge } from '../workspaces/tree-limits.ts';

export interface RemoteAccess {
  /** A URL or a local path that `parseRepository` accepted. */
  repository: string;
  credential: RemoteCredential | null;
  signal: AbortSignal;
}

/** Access by an organization: each organization has its own mirrors. */
export interface RepositoryAccess extends RemoteAccess {
  organizationId: string;
}

interface RefFetch extends RemoteAccess {
  gitDir: string;
  refspecs: readonly string[];
  options?: readonly string[];
}

const transportsOf = {
  file: ['file'],
  http: ['https', 'http'],
  ssh: ['ssh'],
} as const satisfies Record<string, readonly Transport[]>;
const listingTimeoutMs = 2 * 60_000;
/** Enough for a few refs by name, and for those whose names end with one of them. */
const maxListingBytes = 1024 * 1024;
/** Allowance for each listed ref, in bytes. */
const usualRef = 200;

/** The remote's default branch, and the values of the requested refs. */
export interface RemoteRefs {
  defaultBranch: string | null;
  refs: ReadonlyMap<string, string>;
}

/** Returns the options of a git call that connects to the remote, with the transports that its address allows. */
export function remoteCall({ repository, credential, signal }: RemoteAccess) {
  const transport = transportOf(repository);
  return {
    transports: transportsOf[transport],
    remote: repository,
    credential: transport === 'file' ? null : credential,
    signal,
  };
}

/** Fetches refs into a git directory, which changes nothing there but those refs. */
export async function fetchRefs(git: Git, { gitDir, refspecs, options = [], ...access }: RefFetch): Promise<void> {
  const quietly = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--no-recurse-submodules'];
  const { repository } = access;
  const args = ['fetch', ...quietly, ...options, ...uploadPackOf(repository), repository, ...refspecs];
  await git.run({ gitDir, args, ...remoteCall(access) });
}

/** Returns options that keep the serving end of a local path from applying that repository's own configuration. */
function uploadPackOf(repository: string): string[] {
  return isLocal(repository) ? [`--upload-pack=${localUploadPack}`] : [];
}

export function receivePackOf(repository: string): string[] {
  return isLocal(repository) ? [`--receive-pack=${localReceivePack}`] : [];
}

/** Reports whether a repository is on this machine. Throws for an address that git may not use. */
function isLocal(repository: string): boolean {
  return transportOf(repository) === 'file';
}

function transportOf(repository: string): keyof typeof transportsOf {
  if (isAbsolute(repository)) return 'file';
  if (/^https?:\/\/[^\s@]+$/i.test(repository)) return 'http';
  if (sshServerOf(repository) !== null && !/\s/.test(repository)) return 'ssh';
  throw new GitError('not-found', { message: 'git may not use this repository address.' });
}

/**
 * Refuses a remote with more branches and tags than a copy may have files, because each becomes a file in the copy.
 * Throws GitError `too-large`.
 */
export async function checkRefs(
  git: Git,
  { gitDir, access, max }: { gitDir: string; access: RemoteAccess; max: number },
): Promise<void> {
  const { stdout, truncated } = await git.run({
    gitDir,
    args: [
      'ls-remote',
      '--quiet',
      '--heads',
      '--tags',
      '--refs',
      ...uploadPackOf(access.repository),
      access.repository,
    ],
    maxOutputBytes: max * usualRef,
    ...remoteCall(access),
  });
  let refs = 0;
  for (let at = stdout.indexOf('\n'); at !== -1; at = stdout.indexOf('\n', at + 1)) refs += 1;
  if (truncated || refs > max) throw tooLarge(`has more than ${max} branches and tags`, 'FILES');
}

const sha256 = 'The repository uses SHA-256 object ids, which are not supported. Use one with SHA-1.';

/** Looks up refs on the remote by their full names, and its default branch. */
export async function listRemote(
  git: Git,
  { gitDir, access, names }: { gitDir: string; access: RemoteAccess; names: readonly string[] },
): Promise<RemoteRefs> {
  const { stdout, truncated } = await git.run({
    gitDir,
    args: ['ls-remote', '--quiet', '--symref', ...uploadPackOf(access.repository), access.repository, ...names],
    maxOutputBytes: maxListingBytes,
    timeoutMs: listingTimeoutMs,
    ...remoteCall(access),
  });
  if (truncated) throw new GitError('too-large', { message: 'The repository has too many refs of one name.' });
  const refs = new Map<string, string>();
  let defaultBranch: string | null = null;
  for (const line of stdout.toString().split('\n')) {
    const [value = '', name = ''] = line.split('\t');
    if (value.startsWith('ref: refs/heads/') && name === 'HEAD') {
      const parsed = parseRef(value.slice('ref: refs/heads/'.length));
      defaultBranch = parsed.ok ? parsed.ref : null;
    }
    // a pattern also matches longer names that end with it
    else if (names.includes(name) && /^[0-9a-f]{40}$/.test(value)) refs.set(name, value);
    else if (names.includes(name) && /^[0-9a-f]{64}$/.test(value)) throw new GitError('not-found', { message: sha256 });
  }
  return { defaultBranch, refs };
}
