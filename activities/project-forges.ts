import type { ProjectCredentialStore } from '../db/project-credentials.ts';
import type { ProjectStore } from '../db/projects.ts';
import type { Forge, Forges } from './clients/forge.ts';
import type { KnownSecrets } from '../redaction/known-secrets.ts';

export interface ProjectForgesDeps {
  projects: Pick<ProjectStore, 'get'>;
  credentials: Pick<ProjectCredentialStore, 'read'>;
  forges: Forges;
  secrets: Pick<KnownSecrets, 'add'>;
}

export interface ProjectForges {
  /** The forge of a project, for one of its jobs, with the project's own token before the worker's. Null when the project is gone. */
  forgeOf(projectId: string, jobId?: string): Promise<Forge | null>;
  /** Has the project's token taken out of everything from now on. Each process that works for a project calls it. */
  learnSecrets(projectId: string): Promise<void>;
}

export function createProjectForges({ projects, credentials, forges, secrets }: ProjectForgesDeps): ProjectForges {
  async function tokenOf(projectId: string): Promise<string | null> {
    const token = await credentials.read(projectId);
    if (token !== null) secrets.add(token);
    return token;
  }

  return {
    async forgeOf(projectId, jobId) {
      const project = await projects.get(projectId);
      return project === null ? null : forges.forProject(project, { token: await tokenOf(projectId), jobId });
    },
    async learnSecrets(projectId) {
      await tokenOf(projectId);
    },
  };
}
