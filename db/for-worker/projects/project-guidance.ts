import type { Pool } from 'pg';
import { readGuidanceOfProject, type ProjectGuidance } from '../../organizations/project-guidance.ts';

export type ProjectGuidanceReader = ReturnType<typeof createProjectGuidanceReader>;

/** Reads what a job's project tells its agents. */
export function createProjectGuidanceReader(pool: Pool) {
  return { read: (projectId: string): Promise<ProjectGuidance> => readGuidanceOfProject(pool, projectId) };
}
