import type { Pool } from 'pg';
import { writeAudit } from './audit.ts';
import type { Caller, Owner } from '../caller.ts';
import { canBeId } from '../ids.ts';
import { withTransaction } from '../pool.ts';
import { toStoredJson } from '../stored-text.ts';

/** Instructions for a kind of work, which an agent loads when they apply. */
interface ProjectSkill {
  name: string;
  /** When it applies. */
  description: string;
  content: string;
}

/** Instructions and skills of a project for its agents. */
export interface ProjectGuidance {
  /** Part of every prompt; null for none. */
  instructions: string | null;
  skills: ProjectSkill[];
}

const columns = `guidance.instructions, coalesce(guidance.skills, '[]') as skills`;
const joined = 'projects left join project_guidance as guidance on guidance.project_id = projects.id';

export type ProjectGuidanceStore = ReturnType<typeof createProjectGuidanceStore>;

export function createProjectGuidanceStore(pool: Pool) {
  return {
    /** Null when there is no such project. */
    async get({ organizationId }: Owner, projectId: string): Promise<ProjectGuidance | null> {
      if (!canBeId(projectId)) return null;
      const { rows } = await pool.query<ProjectGuidance>(
        `select ${columns} from ${joined} where projects.id = $1 and organization_id = $2`,
        [projectId, organizationId],
      );
      return rows[0] ?? null;
    },

    /** Changes the given parts; null when there is no such project. */
    async change(
      caller: Caller,
      projectId: string,
      { instructions, skills }: Partial<ProjectGuidance>,
    ): Promise<ProjectGuidance | null> {
      if (!canBeId(projectId)) return null;
      return withTransaction(pool, async (client) => {
        const { rows } = await client.query<ProjectGuidance>(
          `insert into project_guidance as guidance (project_id, instructions, skills)
           select id, $3, coalesce($4, '[]'::jsonb) from projects where id = $1 and organization_id = $2
           on conflict (project_id) do update
           set instructions = case when $5 then excluded.instructions else guidance.instructions end,
               skills = coalesce($4, guidance.skills)
           returning ${columns}`,
          [projectId, caller.organizationId, instructions, toStoredJson(skills), instructions !== undefined],
        );
        const [changed = null] = rows;
        if (changed === null) return null;
        const fields = Object.entries({ instructions, skills }).flatMap(([name, value]) =>
          value === undefined ? [] : [name],
        );
        await writeAudit(client, caller, { action: 'project.guidance', subject: projectId, details: { fields } });
        return changed;
      });
    },
  };
}

/** Reads what a job's project tells its agents. */
export async function readGuidanceOfProject(pool: Pool, projectId: string): Promise<ProjectGuidance> {
  const { rows } = await pool.query<ProjectGuidance>(`select ${columns} from ${joined} where projects.id = $1`, [
    projectId,
  ]);
  return rows[0] ?? { instructions: null, skills: [] };
}
