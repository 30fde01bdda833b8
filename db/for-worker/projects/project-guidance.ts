import type { Pool } from 'pg';
import { readGuidanceOfProject, type ProjectGuidance } from '../../organizations/project-guidance.ts';

/** Reads what a job's project tells its agents. */
export interface ProjectGuidanceReader {
  read(projectId: string): Promise<ProjectGuidance>;
}

export function createProjectGuidanceReader(pool: Pool): ProjectGuidanceReader {
  return { read: (projectId) => readGuidanceOfProject(pool, projectId) };
}
