import type { ProjectStore } from '../db/projects.ts';
import type { SiteRow } from '../db/sites.ts';
import type { GitCredential } from './clients/git.ts';
import { createProjectForges, type ProjectForgesDeps } from './project-forges.ts';

export interface SiteCredentialDeps extends ProjectForgesDeps {
  projects: Pick<ProjectStore, 'get' | 'list'>;
}

/** What the repository of a site is read with; null: nothing, which will do for a public one. Errors: ForgeError, SealedError. */
export type SiteCredential = (
  site: Pick<SiteRow, 'organizationId'> & { repository: string },
) => Promise<GitCredential | null>;

/** The token of a project of the same organization that may use the repository goes before the worker's. */
export function createSiteCredential(deps: SiteCredentialDeps): SiteCredential {
  const projectForges = createProjectForges(deps);
  return async ({ organizationId, repository }) => {
    const projects = await deps.projects.list(organizationId);
    const own = projects.find(
      (project) => project.hasCredential && [project.repository, ...project.allowedRepositories].includes(repository),
    );
    const forge = own === undefined ? null : await projectForges.forgeOf(own.id);
    return forge?.credential(repository) ?? deps.forges.credentialOf(repository);
  };
}
