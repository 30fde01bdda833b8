import { isAbsolute } from 'node:path';
import type { Git, RemoteCredential, Transport } from './git.ts';
import { sshServerOf } from '../../lib/inputs/ssh-keys.ts';
import { parseRef } from '../../lib/inputs/ref.ts';
import { GitError } from './git-error.ts';
import { localReceivePack, localUploadPack } from './git-environment.ts';
import { tooLarge } from '../workspaces/tree-limits.ts';

export interface RemoteAccess {
  /** A URL or a local path that `parseRepository` accepted. */
  repository: string;
  credential: RemoteCredential | null;
  signal: AbortSignal;
}

/** The same for an organization, which has a copy of its own of what it may read. */
export interface RepositoryAccess extends RemoteAccess {
  organizationId: string;
}

const transportsOf = {
  file: ['file'],
  http: ['https', 'http'],
  ssh: ['ssh'],
} as const satisfies Record<string, readonly Transport[]>;
const listingTimeoutMs = 2 * 60_000;
/** A few refs by name, and those whose names end like them. */
const longestListing = 1024 * 1024;
/** Of a ref that is listed. */
const usualRef = 200;

/** What the remote says its refs are; a tag is listed with the commit it points at. */
export interface RemoteRefs {
  defaultBranch: string | null;
  refs: ReadonlyMap<string, string>;
}

/** The parts of a git call that reach the remote, with the transports its address allows. */
export function remoteCall({ repository, credential, signal }: RemoteAccess) {
  const way = wayTo(repository);
  return {
    transports: transportsOf[way],
    remote: repository,
    credential: way === 'file' ? null : credential,
    signal,
  };
}

/** Options that keep the other end of a local path from following that repository's own configuration. */
export function uploadPackOf(repository: string): string[] {
  return isLocal(repository) ? [`--upload-pack=${localUploadPack}`] : [];
}

export function receivePackOf(repository: string): string[] {
  return isLocal(repository) ? [`--receive-pack=${localReceivePack}`] : [];
}

/** Whether a repository lies on this machine. Throws for an address that git may not use. */
export function isLocal(repository: string): boolean {
  return wayTo(repository) === 'file';
}

function wayTo(repository: string): keyof typeof transportsOf {
  if (isAbsolute(repository)) return 'file';
  if (/^https?:\/\/[^\s@]+$/i.test(repository)) return 'http';
  if (sshServerOf(repository) !== null && !/\s/.test(repository)) return 'ssh';
  throw new GitError('not-found', { message: 'git may not use this repository address.' });
}

/**
 * Refuses a remote with more branches and tags than a copy may have files: each becomes one, though it is a line there. Throws
 * GitError `too-large`.
 */
export async function checkRefs(
  git: Git,
  { gitDir, access, most }: { gitDir: string; access: RemoteAccess; most: number },
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
    maxOutputBytes: most * usualRef,
    ...remoteCall(access),
  });
  let refs = 0;
  for (let at = stdout.indexOf('\n'); at !== -1; at = stdout.indexOf('\n', at + 1)) refs += 1;
  if (truncated || refs > most) throw tooLarge(`has more than ${most} branches and tags`, 'FILES');
}

/** Asks the remote for refs by their full names, and for its default branch. */
export async function listRemote(
  git: Git,
  { gitDir, access, names }: { gitDir: string; access: RemoteAccess; names: readonly string[] },
): Promise<RemoteRefs> {
  const { stdout, truncated } = await git.run({
    gitDir,
    args: ['ls-remote', '--quiet', '--symref', ...uploadPackOf(access.repository), access.repository, ...names],
    maxOutputBytes: longestListing,
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
    // A pattern also matches longer names that end like it
    else if (names.includes(name) && /^[0-9a-f]{40}$/.test(value)) refs.set(name, value);
  }
  return { defaultBranch, refs };
}
