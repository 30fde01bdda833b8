import { relative } from 'node:path';
import type { Owner } from '../../db/caller.ts';
import type { GrantStore } from '../../db/organizations/grants.ts';
import type { JobRow } from '../../db/jobs/jobs.ts';
import type {
  JobWithAccess,
  ProjectAccess,
  ProjectCredentialReader,
  ProjectReader,
  SealedJob,
} from '../../db/for-worker/projects/projects.ts';
import type { ProjectRow } from '../../db/organizations/projects.ts';
import type { SiteRow } from '../../db/sites/sites.ts';
import { secretPartOf } from '../../lib/redaction/private-key.ts';
import { secretsOfValues } from '../mcp/server-values.ts';
import type { KnownSecrets } from '../../lib/redaction/known-secrets.ts';
import {
  covers,
  coversMerges,
  grantTargetOf,
  noGrantForCredential,
  noGrantForPath,
  noGrantToMerge,
} from '../../lib/inputs/grants.ts';
import { isSameRepository } from '../../lib/inputs/repository.ts';
import { sshServerOf } from '../../lib/inputs/ssh-keys.ts';
import type { ForgeApi } from '../forges/forge-api.ts';
import type { Forge, Forges } from '../forges/forge.ts';
import type { RemoteCredential } from '../git/git.ts';
import { plainEnvironment, storedEnvironment, type PreparedEnvironment } from '../environment/prepared-environment.ts';
import { GitError } from '../git/git-error.ts';
import { realPathsOfDirectory, realPathsOfRepository } from '../forges/real-paths.ts';
import { SourceFolderError } from '../workspaces/source-folder.ts';
import type { SshCredential } from '../git/ssh-session.ts';
import type { GitCredential } from '../git/git-credential.ts';
import type { RepositoryAccess } from '../git/remote.ts';

export interface GrantedAccessDeps {
  grants: GrantStore;
  projects: Pick<ProjectReader, 'list'>;
  credentials: ProjectCredentialReader;
  forges: Forges;
  secrets: Pick<KnownSecrets, 'learn'>;
  /** Why this worker uses a repository for no organization; null when it may be used. */
  problemWithRepository(repository: string): string | null;
  /** The folders below which repositories and directories of this machine must be; null when none are configured. */
  roots: { repositories: string | null; directories: string | null };
}

/** The fields of a job that decide about access to its repository. */
interface RepositoryUser extends Pick<JobRow, 'organizationId' | 'projectId' | 'repository'> {
  /** Null for work after jobs, which shares the tokens of a GitHub App. */
  id: string | null;
}

/** A job with its project's settings as of the same moment. */
export interface JobWithProject extends JobRow {
  project: ProjectRow;
  /** Its models: the first, then its fallbacks. */
  models: string[];
  /** Models that are skipped for now because they are down, the earliest first. */
  downModels: string[];
  /** Where the commands of its turn run. */
  environment: PreparedEnvironment;
}

export interface GrantedJob {
  job: JobWithProject;
  learnSecrets(): void;
  /** Returns how the job reaches its repository, under the grants of the same moment. */
  repository(signal: AbortSignal): Promise<RepositoryAccess>;
}

/**
 * The only way to a credential, and to repositories and directories of this machine. Grants are read at each use, so
 * that a revocation takes effect at once. Errors: GitError, ForgeError, SourceFolderError, SealedError.
 */
export interface GrantedAccess {
  /**
   * Returns the forge of a job; the project's own token takes precedence over the worker's. Null when the project is
   * gone.
   */
  forgeOf(job: RepositoryUser): Promise<Forge | null>;
  /** Returns why a job's pull request may not be merged with the credential of its forge; null when it may. */
  mergeProblem(job: RepositoryUser): Promise<string | null>;
  /** Returns how a job reaches its repository. Null when the project is gone. */
  repositoryOf(job: RepositoryUser, signal: AbortSignal): Promise<RepositoryAccess | null>;
  /**
   * Returns how a site reaches its repository: without a credential unless a project of its organization or a grant
   * provides one.
   */
  siteRepositoryOf(
    site: Pick<SiteRow, 'organizationId'> & { repository: string },
    signal: AbortSignal,
  ): Promise<RepositoryAccess>;
  /**
   * Returns the API of the forge of a site's repository, with a credential under the same rules. Null when the server is
   * not known.
   */
  siteForgeOf(site: Pick<SiteRow, 'organizationId'> & { repository: string }): Promise<ForgeApi | null>;
  /** Throws unless the organization may use a directory of this machine, and the folder of it that is read. */
  checkDirectory(owner: Owner, directory: string, folder: string): Promise<void>;
  /** Throws unless the organization may use a repository, local or hosted. */
  checkRepository(owner: Owner, repository: string): Promise<void>;
  /**
   * Returns a job with its project and the way to its repository, by one read. Every process that works for it calls
   * `learnSecrets`, which registers the project's token and key for redaction. Null when the job is gone.
   */
  jobOf(jobId: string): Promise<GrantedJob | null>;
  /** Returns the same from a job that a statement of its step has just read. */
  openJob(job: SealedJob): GrantedJob;
}

export function createGrantedAccess(deps: GrantedAccessDeps): GrantedAccess {
  const { grants, projects, credentials, forges, secrets, roots } = deps;

  function tokenOf(access: ProjectAccess): string | null {
    const token = access.token();
    if (token !== null) secrets.learn(access.project.id, [token]);
    return token;
  }

  function sshKeyOf(access: ProjectAccess): string | null {
    const key = access.sshKey();
    if (key !== null) secrets.learn(access.project.id, [secretPartOf(key)]);
    return key;
  }

  function sshOf(access: ProjectAccess): SshCredential | null {
    const privateKey = sshKeyOf(access);
    return privateKey === null ? null : { privateKey, knownHosts: access.project.sshKnownHosts };
  }

  function refusalOf({ organizationId }: Owner, resources: string[]): (target: string) => string | null {
    return (target) => (covers(resources, target) ? null : noGrantForCredential(organizationId, target));
  }

  function isGranted(resources: string[], paths: string[] | null): boolean {
    return paths?.every((target) => covers(resources, target)) ?? false;
  }

  /** Returns the organization's grants; throws unless it may use the repository. */
  async function grantsFor(owner: Owner, repository: string, read = () => grants.resources(owner)): Promise<string[]> {
    const problem = deps.problemWithRepository(repository);
    if (problem !== null) throw new GitError('not-found', { message: problem });
    const isLocal = repository.startsWith('/');
    const root = roots.repositories;
    const paths = isLocal && root !== null ? realPathsOfRepository(repository, root) : null;
    const resources = await read();
    if (!isLocal || isGranted(resources, paths)) return resources;
    throw new GitError('not-found', { message: noGrantForPath(owner.organizationId, 'repository', repository) });
  }

  function forgeFor(user: RepositoryUser, access: ProjectAccess, resources: string[]): Forge {
    const { id: jobId, repository } = user;
    const refusal = refusalOf(user, resources);
    return forges.forProject(access.project, { token: tokenOf(access), jobId, repository, refusal });
  }

  function repositoryFor(
    user: RepositoryUser,
    access: ProjectAccess,
    { resources, signal }: { resources: string[]; signal: AbortSignal },
  ): RepositoryAccess {
    const { organizationId, repository } = user;
    const forge = forgeFor(user, access, resources);
    const isBySsh = sshServerOf(repository) !== null;
    const credential: RemoteCredential | null = isBySsh ? sshOf(access) : forge.credential(repository);
    return { organizationId, repository, credential, signal };
  }

  return {
    async forgeOf(job) {
      const [access, resources] = await Promise.all([credentials.read(job.projectId), grants.resources(job)]);
      return access === null ? null : forgeFor(job, access, resources);
    },

    async mergeProblem(job) {
      const [access, resources] = await Promise.all([credentials.read(job.projectId), grants.resources(job)]);
      if (access === null || tokenOf(access) !== null) return null;
      const target = grantTargetOf(job.repository, access.project.forgeUrl);
      return coversMerges(resources, target) ? null : noGrantToMerge(job.organizationId, target);
    },

    async repositoryOf(job, signal) {
      const { repository } = job;
      const resources = await grantsFor(job, repository);
      const access = await credentials.read(job.projectId);
      return access === null ? null : repositoryFor(job, access, { resources, signal });
    },

    async siteRepositoryOf({ organizationId, repository }, signal) {
      const credential = await siteCredential(organizationId, repository);
      return { organizationId, repository, credential, signal };
    },

    async siteForgeOf({ organizationId, repository }) {
      const credential = await siteCredential(organizationId, repository);
      const [project = null] = await projectsOf(organizationId, repository);
      return forges.apiOf(repository, { project, credential });
    },

    async checkDirectory(owner, directory, folder) {
      if (roots.directories === null) {
        throw new SourceFolderError(
          'This worker reads no directories. Set DOCKET_SITE_DIRECTORIES to the folder that contains them.',
        );
      }
      const paths = realPathsOfDirectory(directory, folder, roots.directories);
      if (isGranted(await grants.resources(owner), paths)) return;
      if (paths === null && relative(roots.directories, directory).startsWith('..')) {
        throw new SourceFolderError(
          `${directory} is outside DOCKET_SITE_DIRECTORIES, the folder for the directories of sites on this machine.`,
        );
      }
      throw new SourceFolderError(noGrantForPath(owner.organizationId, 'directory', directory));
    },

    async checkRepository(owner, repository) {
      await grantsFor(owner, repository);
    },

    async jobOf(jobId) {
      const found = await credentials.readOfJob(jobId);
      return found === null ? null : grantedJob(found);
    },

    openJob: (job) => grantedJob(credentials.openJob(job)),
  };

  function grantedJob(found: JobWithAccess): GrantedJob {
    const { job } = found;
    const environment = storedEnvironment(found.environment) ?? plainEnvironment;
    const checkCommand = found.project.checkCommand ?? environment.check;
    return {
      job: {
        ...job,
        project: { ...found.project, checkCommand },
        models: [job.model, ...job.fallbackModels],
        downModels: found.downModels,
        environment,
      },
      async repository(signal) {
        const resources = await grantsFor(job, job.repository, async () => found.grants);
        return repositoryFor(job, found, { resources, signal });
      },
      learnSecrets() {
        tokenOf(found);
        sshKeyOf(found);
        secrets.learn(job.projectId, [...found.setupSecrets(), ...secretsOfValues(found.serverValues())]);
      },
    };
  }

  async function siteCredential(organizationId: string, repository: string): Promise<GitCredential | null> {
    const refusal = refusalOf({ organizationId }, await grantsFor({ organizationId }, repository));
    return (await ownCredential(organizationId, repository, refusal)) ?? forges.credentialOf(repository, { refusal });
  }

  async function projectsOf(organizationId: string, repository: string): Promise<ProjectRow[]> {
    const all = await projects.list({ organizationId });
    return all.filter((project) =>
      [project.repository, ...project.allowedRepositories].some((one) => isSameRepository(one, repository)),
    );
  }

  /**
   * Returns the token of one of the organization's projects that may use the repository, if it is for the repository's
   * server.
   */
  async function ownCredential(
    organizationId: string,
    repository: string,
    refusal: (target: string) => string | null,
  ): Promise<GitCredential | null> {
    for (const project of await projectsOf(organizationId, repository)) {
      if (!project.hasCredential) continue;
      const access = await credentials.read(project.id);
      const token = access === null ? null : tokenOf(access);
      const credential = token === null ? null : forges.forProject(project, { token, refusal }).credential(repository);
      if (credential !== null) return credential;
    }
    return null;
  }
}
