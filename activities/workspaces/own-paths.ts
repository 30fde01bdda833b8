import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Git } from '../git/git.ts';
import { listedEntries } from '../git/listed-entries.ts';
import type { JobDirectory } from './job-directory.ts';

const pathsPerTurn = 5_000;

/** A path that a job has changed. */
export interface OwnPath {
  path: string;
  /** Target of a symbolic link; null for anything else. */
  target: string | null;
}

interface OwnPathsRequest {
  job: JobDirectory;
  from: string[];
  tree: string;
  signal: AbortSignal;
}

/**
 * Returns the paths at which a tree differs from every tree in `from`. Pass the base before anything has been
 * published. Pass the published tree while the job continues on the same branch: what people added there is not the
 * job's change, but reverting it is; if the job has merged the base branch, pass that tree merged with it. Pass both if the
 * base has changed since.
 */
export async function ownPaths(git: Git, { job, from, tree, signal }: OwnPathsRequest): Promise<OwnPath[]> {
  let own: Map<string, string | null> | null = null;
  for (const earlier of from) {
    const args = ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', '--no-ext-diff', earlier, tree];
    const { stdout } = await git.run({ gitDir: job.gitDir, args, signal });
    own = await linksByPath(stdout, { among: own, signal });
  }
  const links = [...(own ?? [])].flatMap(([, link]) => (link === null ? [] : [link]));
  const targets = await readLinks(git, { job, links, signal });
  const paths: OwnPath[] = [];
  for (const [path, link] of own ?? []) {
    paths.push({
      path: Buffer.from(path, 'latin1').toString(),
      target: link === null ? null : (targets.get(link) ?? ''),
    });
    if (paths.length % pathsPerTurn === 0) await nextTurn(undefined, { signal });
  }
  return paths;
}

/**
 * Returns the changed paths, with the object of each symbolic link; with `among`, only those of its paths. Each byte of
 * a name is one character here: as text, two names could be the same, and one link would hide another.
 */
async function linksByPath(
  raw: Buffer,
  { among, signal }: { among: ReadonlyMap<string, unknown> | null; signal: AbortSignal },
): Promise<Map<string, string | null>> {
  const links = new Map<string, string | null>();
  let modes: string | null = null;
  for await (const parts of listedEntries(raw, signal, 'latin1')) {
    for (const part of parts) {
      if (modes === null) {
        modes = part;
        continue;
      }
      const [, mode, , object = null] = modes.split(' ');
      if (among?.has(part) ?? true) links.set(part, mode === '120000' ? object : null);
      modes = null;
    }
  }
  return links;
}

/** Returns what each symbolic link leads to, by its object. */
async function readLinks(
  git: Git,
  { job, links, signal }: { job: JobDirectory; links: readonly string[]; signal: AbortSignal },
): Promise<Map<string, string>> {
  const targets = new Map<string, string>();
  if (links.length === 0) return targets;
  const input = links.map((object) => `${object}\n`).join('');
  const { stdout } = await git.run({ gitDir: job.gitDir, args: ['cat-file', '--batch'], input, signal });
  for (let at = 0; at < stdout.length;) {
    const end = stdout.indexOf('\n', at);
    const [object = '', , size] = stdout.toString('utf8', at, end).split(' ');
    at = end + 1 + Number(size) + 1;
    targets.set(object, stdout.toString('utf8', end + 1, at - 1));
    if (targets.size % pathsPerTurn === 0) await nextTurn(undefined, { signal });
  }
  return targets;
}
