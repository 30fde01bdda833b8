import type { ProjectCredentialStore } from '../db/project-credentials.ts';
import type { ProjectStore } from '../db/projects.ts';
import type { Forge, Forges } from './clients/forge.ts';
import type { SshCredential } from './clients/ssh-session.ts';
import { secretPartOf } from '../redaction/private-key.ts';
import type { KnownSecrets } from '../redaction/known-secrets.ts';

export interface ProjectForgesDeps {
  projects: Pick<ProjectStore, 'get'>;
  credentials: Pick<ProjectCredentialStore, 'read' | 'readSshKey'>;
  forges: Forges;
  secrets: Pick<KnownSecrets, 'add'>;
}

export interface ProjectForges {
  /** The forge of a project, for one of its jobs, with the project's own token before the worker's. Null when the project is gone. */
  forgeOf(projectId: string, jobId?: string): Promise<Forge | null>;
  /** What its repositories are reached with by ssh; null: it has no key. */
  sshOf(projectId: string): Promise<SshCredential | null>;
  /** Has the project's token and key taken out of everything from now on. Each process that works for a project calls it. */
  learnSecrets(projectId: string): Promise<void>;
}

export function createProjectForges({ projects, credentials, forges, secrets }: ProjectForgesDeps): ProjectForges {
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

  return {
    async forgeOf(projectId, jobId) {
      const project = await projects.get(projectId);
      return project === null ? null : forges.forProject(project, { token: await tokenOf(projectId), jobId });
    },
    async sshOf(projectId) {
      const [project, privateKey] = await Promise.all([projects.get(projectId), sshKeyOf(projectId)]);
      return project === null || privateKey === null ? null : { privateKey, knownHosts: project.sshKnownHosts };
    },
    async learnSecrets(projectId) {
      await Promise.all([tokenOf(projectId), sshKeyOf(projectId)]);
    },
  };
}
