import type { Owner } from '../../db/caller.ts';
import type { GrantStore } from '../../db/organizations/grants.ts';
import type { JobRow } from '../../db/jobs/jobs.ts';
import type { ProjectCredentialReader, ProjectReader } from '../../db/for-worker/projects.ts';
import type { SiteRow } from '../../db/sites/sites.ts';
import { secretPartOf } from '../../lib/redaction/private-key.ts';
import type { KnownSecrets } from '../../lib/redaction/known-secrets.ts';
import { covers, noGrantForCredential, noGrantForPath } from '../../lib/inputs/grants.ts';
import { sshServerOf } from '../../lib/inputs/ssh-keys.ts';
import type { Forge, Forges } from '../forges/forge.ts';
import type { GitCredential, RemoteCredential } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { realPathsOfDirectory, realPathsOfRepository } from '../forges/real-paths.ts';
import { SourceFolderError } from '../workspaces/source-folder.ts';
import type { SshCredential } from '../git/ssh-session.ts';
import type { RepositoryAccess } from '../workspaces/workspaces.ts';

export interface GrantedAccessDeps {
  grants: GrantStore;
  projects: ProjectReader;
  credentials: ProjectCredentialReader;
  forges: Forges;
  secrets: Pick<KnownSecrets, 'add'>;
  /** Why this worker uses a repository for nobody; null when it may be used. */
  problemWithRepository(repository: string): string | null;
  /** The folders below which repositories and directories of this machine may lie; null: none. */
  roots: { repositories: string | null; directories: string | null };
}

/** What a job is to its repository. */
export type RepositoryUser = Pick<JobRow, 'id' | 'organizationId' | 'projectId' | 'repository'>;

/**
 * The one way to a credential, and to what lies on this machine. Grants are read at each use, so that a revoked one ends at
 * once. Errors: GitError, ForgeError, SourceFolderError, SealedError.
 */
export interface GrantedAccess {
  /** The forge of a job, with the project's own token before the worker's. Null when the project is gone. */
  forgeOf(job: RepositoryUser): Promise<Forge | null>;
  /** How a job reaches its repository. Null when the project is gone. */
  repositoryOf(job: RepositoryUser, signal: AbortSignal): Promise<RepositoryAccess | null>;
  /** How a site reaches its repository: without a credential unless a project of its organization or a grant has one. */
  siteRepositoryOf(
    site: Pick<SiteRow, 'organizationId'> & { repository: string },
    signal: AbortSignal,
  ): Promise<RepositoryAccess>;
  /** Throws unless the organization may use a directory of this machine, and a folder of it that is read. */
  checkDirectory(owner: Owner, directory: string, folder: string): Promise<void>;
  /** The same for a repository, wherever it lies. */
  checkRepository(owner: Owner, repository: string): Promise<void>;
  /** Has the project's token and key taken out of everything from now on. Each process that works for a project calls it. */
  learnSecrets(projectId: string): Promise<void>;
}

export function createGrantedAccess(deps: GrantedAccessDeps): GrantedAccess {
  const { grants, projects, credentials, forges, secrets, roots } = deps;

  async function tokenOf(projectId: string): Promise<string | null> {
    const token = await credentials.read(projectId);
    if (token !== null) secrets.add(token);
    return token;
  }

  async function sshKeyOf(projectId: string): Promise<string | null> {
    const key = await credentials.readSshKey(projectId);
    if (key !== null) secrets.add(secretPartOf(key));
    return key;
  }

  async function sshOf(projectId: string): Promise<SshCredential | null> {
    const [project, privateKey] = await Promise.all([projects.get(projectId), sshKeyOf(projectId)]);
    return project === null || privateKey === null ? null : { privateKey, knownHosts: project.sshKnownHosts };
  }

  async function refusalFor(owner: Owner): Promise<(target: string) => string | null> {
    const resources = await grants.resources(owner);
    return (target) => (covers(resources, target) ? null : noGrantForCredential(owner.organizationId, target));
  }

  async function mayUse(owner: Owner, paths: string[] | null): Promise<boolean> {
    const resources = await grants.resources(owner);
    return paths?.every((target) => covers(resources, target)) ?? false;
  }

  async function checkRepository(owner: Owner, repository: string): Promise<void> {
    const problem = deps.problemWithRepository(repository);
    if (problem !== null) throw new GitError('not-found', { message: problem });
    if (!repository.startsWith('/')) return;
    const paths = roots.repositories === null ? null : await realPathsOfRepository(repository, roots.repositories);
    if (await mayUse(owner, paths)) return;
    throw new GitError('not-found', { message: noGrantForPath(owner.organizationId, 'repository', repository) });
  }

  async function forgeOf({ id, organizationId, projectId, repository }: RepositoryUser): Promise<Forge | null> {
    const project = await projects.get(projectId);
    if (project === null) return null;
    const [token, refusal] = await Promise.all([tokenOf(projectId), refusalFor({ organizationId })]);
    return forges.forProject(project, { token, jobId: id, repository, refusal });
  }

  return {
    forgeOf,
    checkRepository,

    async repositoryOf(job, signal) {
      const { organizationId, repository } = job;
      await checkRepository(job, repository);
      const forge = await forgeOf(job);
      if (forge === null) return null;
      const isBySsh = sshServerOf(repository) !== null;
      const credential: RemoteCredential | null = isBySsh ? await sshOf(job.projectId) : forge.credential(repository);
      return { organizationId, repository, credential, signal };
    },

    async siteRepositoryOf({ organizationId, repository }, signal) {
      await checkRepository({ organizationId }, repository);
      const refusal = await refusalFor({ organizationId });
      const own = await ownCredential(organizationId, repository, refusal);
      return { organizationId, repository, credential: own ?? forges.credentialOf(repository, { refusal }), signal };
    },

    async checkDirectory(owner, directory, folder) {
      if (roots.directories === null) {
        throw new SourceFolderError(
          'This worker reads no directories. Set DOCKET_SITE_DIRECTORIES to the folder that holds them.',
        );
      }
      if (await mayUse(owner, await realPathsOfDirectory(directory, folder, roots.directories))) return;
      throw new SourceFolderError(noGrantForPath(owner.organizationId, 'directory', directory));
    },

    async learnSecrets(projectId) {
      await Promise.all([tokenOf(projectId), sshKeyOf(projectId)]);
    },
  };

  /** The token of a project of the organization that may use the repository, where it is one for its server. */
  async function ownCredential(
    organizationId: string,
    repository: string,
    refusal: (target: string) => string | null,
  ): Promise<GitCredential | null> {
    const owned = (await projects.list({ organizationId })).filter(
      (project) => project.hasCredential && [project.repository, ...project.allowedRepositories].includes(repository),
    );
    for (const project of owned) {
      const token = await tokenOf(project.id);
      const credential = token === null ? null : forges.forProject(project, { token, refusal }).credential(repository);
      if (credential !== null) return credential;
    }
    return null;
  }
}
