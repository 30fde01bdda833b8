import type { Pool } from 'pg';
import type { Owner } from '../caller.ts';
import { canBeId } from '../ids.ts';

/** Names found in a project's repository when its newest job began. */
export interface RepositoryNames {
  /** Newest commit first. */
  branches: string[];
  /** Paths of documents, those at the top first. */
  documents: string[];
}

export const maxBranches = 100;
export const maxDocuments = 20;
/** Characters of a branch or path; longer ones are left out. */
export const maxNameLength = 200;

export type ProjectRepositoryStore = ReturnType<typeof createProjectRepositoryStore>;

export function createProjectRepositoryStore(pool: Pool) {
  return {
    /** Empty before the first job on the project's repository; null when there is no such project. */
    async get({ organizationId }: Owner, projectId: string): Promise<RepositoryNames | null> {
      if (!canBeId(projectId)) return null;
      const { rows } = await pool.query<RepositoryNames>(
        `select coalesce(branches, '{}') as branches, coalesce(documents, '{}') as documents
         from projects left join project_repositories as found
           on found.project_id = projects.id and found.repository = projects.repository
         where projects.id = $1 and organization_id = $2`,
        [projectId, organizationId],
      );
      return rows[0] ?? null;
    },
  };
}
