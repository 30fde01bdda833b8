import type { Git } from './git.ts';
import { GitError } from './git-error.ts';
import type { Mirrors } from '../workspaces/mirrors.ts';
import { listRemote, type RepositoryAccess } from './remote.ts';

interface ResolveDeps {
  git: Git;
  mirrors: Mirrors;
}

interface Resolved {
  branch: string;
  commit: string;
}

/**
 * Resolves a branch, a tag, a full commit id, or null for the default branch, on the remote, and fetches the commit
 * into the mirror. Only commits that a branch or a tag of this repository contains are accepted. `branch` is the base
 * branch for a pull request. Errors: GitError, `ref-not-found` with the reason.
 */
export async function resolveRef(
  { git, mirrors }: ResolveDeps,
  { ref, ...access }: RepositoryAccess & { ref: string | null },
): Promise<Resolved> {
  const gitDir = await mirrors.ensure(access);
  if (ref !== null && /^[0-9a-f]{40}$/.test(ref)) return await resolveCommit({ git, mirrors }, access, ref);
  const name = ref?.replace(/^refs\/(heads|tags)\//, '') ?? null;
  const names = name === null ? [] : [`refs/heads/${name}`, `refs/tags/${name}`, `refs/tags/${name}^{}`];
  const { defaultBranch, refs } = await listRemote(git, { gitDir, access, names: ['HEAD', 'HEAD^{}', ...names] });

  if (name === null) {
    // a HEAD may name an annotated tag
    const commit = refs.get('HEAD^{}') ?? refs.get('HEAD');
    if (commit === undefined)
      throw refNotFound("The repository's default branch has no commits yet. Push one, or name another branch.");
    await mirrors.ensureCommit(access, commit);
    return {
      branch: defaultBranch ?? (await branchHolding({ git, mirrors }, access, { commit, preferred: null })),
      commit,
    };
  }
  const head = ref?.startsWith('refs/tags/') === true ? undefined : refs.get(`refs/heads/${name}`);
  if (head !== undefined) {
    await mirrors.ensureCommit(access, head);
    return { branch: name, commit: head };
  }
  const tagged = refs.get(`refs/tags/${name}^{}`) ?? refs.get(`refs/tags/${name}`);
  if (tagged === undefined || ref?.startsWith('refs/heads/') === true) {
    const isShort = /^[0-9a-f]{4,39}$/.test(name);
    const hint = isShort ? ' If it is a commit, give its full id of 40 hexadecimal digits.' : '';
    throw refNotFound(`The repository has no branch or tag named "${name}".${hint}`);
  }
  await mirrors.ensureCommit(access, tagged);
  return {
    branch: await branchHolding({ git, mirrors }, access, { commit: tagged, preferred: defaultBranch }),
    commit: tagged,
  };
}

async function resolveCommit(deps: ResolveDeps, access: RepositoryAccess, commit: string): Promise<Resolved> {
  const gitDir = deps.mirrors.directoryOf(access);
  await deps.mirrors.refresh(access);
  if (!(await deps.mirrors.has(access, commit)))
    throw refNotFound('The repository has no branch or tag that contains this commit.');
  const { defaultBranch } = await listRemote(deps.git, { gitDir, access, names: ['HEAD'] });
  return { branch: await branchHolding(deps, access, { commit, preferred: defaultBranch }), commit };
}

/** Returns the preferred branch if it contains the commit or if only a tag does, else a branch that contains it. */
async function branchHolding(
  { git, mirrors }: ResolveDeps,
  access: RepositoryAccess,
  { commit, preferred }: { commit: string; preferred: string | null },
): Promise<string> {
  const { stdout } = await git.run({
    gitDir: mirrors.directoryOf(access),
    args: ['for-each-ref', `--contains=${commit}`, '--format=%(refname)', 'refs/heads', 'refs/tags'],
    signal: access.signal,
  });
  const holders = stdout.toString().split('\n').filter(Boolean);
  if (holders.length === 0) throw refNotFound('The repository has no branch or tag that contains this commit.');
  const branches = holders
    .filter((name) => name.startsWith('refs/heads/'))
    .map((name) => name.slice('refs/heads/'.length));
  const liked = [preferred, 'main', 'master'].find((name) => name !== null && branches.includes(name));
  const branch = liked ?? branches[0] ?? preferred;
  if (branch === null) throw refNotFound('The repository has no branch to open a pull request against.');
  return branch;
}

function refNotFound(message: string): GitError {
  return new GitError('ref-not-found', { message });
}
