import type { Pool } from 'pg';
import type { RepositoryNames } from '../../organizations/project-repository.ts';
import { toStoredText } from '../../stored-text.ts';

export type ProjectRepositoryWriter = ReturnType<typeof createProjectRepositoryWriter>;

/** Keeps what a job found in the repository of its project. */
export function createProjectRepositoryWriter(pool: Pool) {
  return {
    /** Replaces the names of earlier jobs. Ignores a job on another repository than its project's. */
    async store(jobId: string, { branches, documents }: RepositoryNames): Promise<void> {
      // jobs that begin at the same time find the same names and write nothing
      await pool.query(
        `insert into project_repositories as found (project_id, repository, branches, documents)
         select projects.id, projects.repository, $2, $3
         from jobs join projects on projects.id = jobs.project_id and projects.repository = jobs.repository
         where jobs.id = $1
         on conflict (project_id) do update
         set repository = excluded.repository, branches = excluded.branches, documents = excluded.documents
         where (found.repository, found.branches, found.documents)
           is distinct from (excluded.repository, excluded.branches, excluded.documents)`,
        [jobId, branches.map(toStoredText), documents.map(toStoredText)],
      );
    },
  };
}
