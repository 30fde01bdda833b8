import type { ForgeKind } from '../../db/organizations/projects.ts';
import { createEgress, type Egress } from '../../lib/network/egress.ts';
import { ForgeError, type Forge, type ForgeProject, type Forges } from './forge.ts';
import { belongsTo, liesBelow, repositoryPath } from './repository-path.ts';
import { wellKnownForges } from '../../lib/inputs/administration.ts';
import { sshServerOf } from '../../lib/inputs/ssh-keys.ts';
import { createGiteaForge } from './gitea.ts';
import { createForgeApi } from './forge-api.ts';
import { githubApiOf, githubUrlOf } from './github-address.ts';
import { createGithubForge } from './github.ts';
import { createAppCredential, createTokenCredential, type GithubApp } from './github-credential.ts';
import { createGitlabForge } from './gitlab.ts';
import { trimEndSlashes } from '../../lib/trim-end-slashes.ts';

export type HostedKind = Exclude<ForgeKind, 'local'>;

/** A GitHub server and the worker's own credential for it. */
interface GithubServer {
  apiUrl: string;
  /** Null when the worker has no token, so that only projects with their own can use the server. */
  token: string | null;
  /** Takes precedence over the token. */
  app: GithubApp | null;
}

interface TokenServer {
  /** Web address of the server. */
  url: string;
  token: string;
}

export interface ForgeServers {
  github: GithubServer | null;
  gitlab: TokenServer | null;
  gitea: TokenServer | null;
}

export interface ForgesOptions extends ForgeServers {
  local: Forge;
  egress?: Egress;
}

const maxKept = 200;
const revokeTimeoutMs = 5_000;
const names: Record<HostedKind, string> = { github: 'GitHub', gitlab: 'GitLab', gitea: 'Gitea' };
const remedies: Record<HostedKind, string> = {
  github: 'set GITHUB_TOKEN (and GITHUB_API_URL for an Enterprise server)',
  gitlab: 'set GITLAB_TOKEN (and GITLAB_URL for a self-managed server)',
  gitea: 'set GITEA_TOKEN and GITEA_URL',
};

/** Creates the forges for projects. A project without any credential fails with a message that names the remedy. */
export function createForges({ local, egress = createEgress(), ...servers }: ForgesOptions): Forges {
  const own = ownForges(servers, egress);
  return {
    forProject(project, { token = null, jobId = null, repository = project.repository, refusal }) {
      const { forge: kind } = project;
      if (kind === 'local') return local;
      const configured = own[kind];
      const isSameServer = configured !== null && serves(configured.url, project);
      if (token !== null) {
        if (kind === 'github' && isSameServer && servers.github !== null)
          return createGithubForge({ credential: createTokenCredential(token), apiUrl: servers.github.apiUrl, egress });
        return forgeWith(kind, { url: isSameServer ? configured.url : urlOf(project), token, egress });
      }
      const ofWorker = isSameServer ? configured.forgeFor(jobId, project) : null;
      if (configured !== null && ofWorker !== null) {
        const { path } = repositoryPath(repository, { root: configured.url, forge: names[kind] });
        const problem = refusal(`${trimmed(configured.url)}/${path}`);
        if (problem !== null) throw new ForgeError('authentication', problem);
        return ofWorker;
      }
      throw new ForgeError(
        'authentication',
        `The worker has no token for this ${names[kind]} server; ${remedies[kind]}, or give the project a token, then retry the job.`,
      );
    },
    credentialOf(repository, { refusal }) {
      if (refusal(repository) !== null) return null;
      const server = Object.values(own).find((one) => one !== null && liesBelow(repository, one.url));
      return server?.forgeFor(null, {})?.credential(repository) ?? null;
    },
    apiOf(repository, { project, credential }) {
      const server = serverOf(repository, project);
      return server && createForgeApi(repository, { ...server, forge: names[server.kind], credential, egress });
    },
    async revokeEnded(endedOf) {
      const held = own.github?.heldFor() ?? [];
      const ended = held.length === 0 ? [] : await endedOf(held);
      const given = ended.flatMap((jobId) => own.github?.forget(jobId)?.revoke ?? []);
      const outcomes = await Promise.allSettled(given.map((revoke) => revoke(AbortSignal.timeout(revokeTimeoutMs))));
      return { jobs: given.length, failed: outcomes.filter(({ status }) => status === 'rejected').length };
    },
  };

  /** Returns the server of a repository: one of the worker's, the one that a project names, or a well-known one. */
  function serverOf(repository: string, project: ForgeProject | null) {
    for (const kind of ['github', 'gitlab', 'gitea'] as const) {
      const url = own[kind]?.url;
      if (url === undefined || !liesBelow(repository, url)) continue;
      const api = kind === 'github' ? servers.github?.apiUrl : undefined;
      return { kind, url, apiUrl: trimmed(api ?? apiOf(kind, url)) };
    }
    const kind = project === null ? wellKnownForges[URL.parse(repository)?.hostname ?? ''] : project.forge;
    if (kind === undefined || kind === 'local') return null;
    const url = urlOf(project ?? { forge: kind, forgeUrl: null, repository });
    return { kind, url, apiUrl: apiOf(kind, url) };
  }
}

function apiOf(kind: HostedKind, url: string): string {
  if (kind === 'github') return githubApiOf(url);
  return `${trimmed(url)}${kind === 'gitlab' ? '/api/v4' : '/api/v1'}`;
}

function ownForges({ github, gitlab, gitea }: ForgeServers, egress: Egress) {
  return {
    github:
      github === null
        ? null
        : { url: githubUrlOf(github.apiUrl), ...perJob((use) => githubForge(github, { egress, ...use })) },
    gitlab: gitlab === null ? null : { url: gitlab.url, ...perJob(() => createGitlabForge({ ...gitlab, egress })) },
    gitea: gitea === null ? null : { url: gitea.url, ...perJob(() => createGiteaForge({ ...gitea, egress })) },
  };
}

type Permissions = Pick<ForgeProject, 'mayChangeWorkflows'>;

/** Creates a forge per job, so that no job uses a token minted for another. The most recent jobs keep theirs. */
function perJob(make: (permissions: Permissions) => Forge | null) {
  const kept = new Map<string, Forge | null>();
  return {
    forgeFor(jobId: string | null, { mayChangeWorkflows }: Permissions): Forge | null {
      const key = jobId ?? '';
      const forge = kept.has(key) ? (kept.get(key) ?? null) : make({ mayChangeWorkflows });
      kept.delete(key);
      kept.set(key, forge);
      for (const oldest of kept.keys()) {
        if (kept.size <= maxKept) break;
        kept.delete(oldest);
      }
      return forge;
    },
    heldFor: () => [...kept].flatMap(([jobId, forge]) => (jobId === '' || forge?.revoke === undefined ? [] : jobId)),
    /** Current users of the forge may continue with it; the job's next request gets a new one. */
    forget(jobId: string): Forge | null {
      const forge = kept.get(jobId) ?? null;
      kept.delete(jobId);
      return forge;
    },
  };
}

function githubForge({ apiUrl, token, app }: GithubServer, use: Permissions & { egress: Egress }): Forge | null {
  const { egress } = use;
  if (app !== null) return createGithubForge({ credential: createAppCredential(app, apiUrl, use), apiUrl, egress });
  return token === null ? null : createGithubForge({ credential: createTokenCredential(token), apiUrl, egress });
}

function forgeWith(kind: HostedKind, { url, token, egress }: TokenServer & { egress: Egress }): Forge {
  if (kind === 'gitlab') return createGitlabForge({ url, token, egress });
  if (kind === 'gitea') return createGiteaForge({ url, token, egress });
  return createGithubForge({ credential: createTokenCredential(token), apiUrl: githubApiOf(url), egress });
}

/** Reports whether a project uses the server at this address. */
function serves(url: string, { forgeUrl, repository }: ForgeProject): boolean {
  return forgeUrl === null ? belongsTo(repository, url) : trimmed(forgeUrl) === trimmed(url);
}

/** Returns the address of a project's server: the configured one, or the origin of its repository. */
function urlOf({ forgeUrl, repository }: ForgeProject): string {
  const server = forgeUrl === null ? sshServerOf(repository) : null;
  const url = server === null ? URL.parse(forgeUrl ?? repository) : URL.parse(`https://${server.host}`);
  if (url === null) throw new ForgeError('not-found', "The project's repository is not on a forge.");
  return forgeUrl === null ? url.origin : trimmed(forgeUrl);
}

function trimmed(address: string): string {
  return trimEndSlashes(address);
}
