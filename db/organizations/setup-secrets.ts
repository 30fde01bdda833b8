import type { Pool } from 'pg';
import type { SecretBox } from '../../lib/encryption/secret-box.ts';
import { writeAudit } from './audit.ts';
import type { Caller, Owner } from '../caller.ts';
import { canBeId, newId } from '../ids.ts';
import { withTransaction } from '../pool.ts';
import { projectSecretOwner } from './project-secrets.ts';

/** A secret of a project's setup, without its value. */
export interface SetupSecret {
  name: string;
  updatedAt: Date;
}

/** Largest number of secrets of a project. */
export const maxSecrets = 100;

const ofProject = 'select id from projects where id = $1 and organization_id = $2';

export type SetupSecretStore = ReturnType<typeof createSetupSecretStore>;

/** Creates the store of the secrets of setups, which are written and never returned. */
export function createSetupSecretStore(pool: Pool, box: Pick<SecretBox, 'seal'>) {
  return {
    /** Returns the project's secrets by name; null when there is no such project. */
    async list({ organizationId }: Owner, projectId: string): Promise<SetupSecret[] | null> {
      if (!canBeId(projectId)) return null;
      const { rows } = await pool.query<{ secrets: (SetupSecret & { updatedAt: string })[] }>(
        `select (select coalesce(jsonb_agg(jsonb_build_object('name', name, 'updatedAt', updated_at) order by name), '[]')
                 from project_secrets where project_id = projects.id) as secrets
         from projects where id = $1 and organization_id = $2`,
        [projectId, organizationId],
      );
      const [row] = rows;
      return row?.secrets.map(({ name, updatedAt }) => ({ name, updatedAt: new Date(updatedAt) })) ?? null;
    },

    /** Sets a secret; null when there is no such project, `full` when it has as many as it can have. */
    async set(
      caller: Caller,
      projectId: string,
      { name, value }: { name: string; value: string },
    ): Promise<SetupSecret | 'full' | null> {
      if (!canBeId(projectId)) return null;
      return withTransaction(pool, async (client) => {
        const { organizationId } = caller;
        // locked, so that the number of its secrets is exact
        const project = await client.query(`${ofProject} for update`, [projectId, organizationId]);
        if (project.rowCount !== 1) return null;
        const { rows } = await client.query<{ id: string; name: string }>(
          'select id, name from project_secrets where project_id = $1',
          [projectId],
        );
        const known = rows.find((row) => row.name === name);
        if (known === undefined && rows.length >= maxSecrets) return 'full';
        const id = known?.id ?? newId('sec_');
        const stored = await client.query<SetupSecret>(
          `insert into project_secrets (id, project_id, name, value) values ($1, $2, $3, $4)
           on conflict (project_id, name) do update set value = excluded.value, updated_at = now()
           returning name, updated_at as "updatedAt"`,
          [id, projectId, name, box.seal(value, projectSecretOwner(id))],
        );
        await writeAudit(client, caller, { action: 'project.secret.set', subject: projectId, details: { name } });
        return stored.rows[0] ?? null;
      });
    },

    /** Returns false when there is no such secret. */
    async remove(caller: Caller, projectId: string, name: string): Promise<boolean> {
      // PostgreSQL refuses a name with a NUL character
      if (!canBeId(projectId) || name.includes('\0')) return false;
      return withTransaction(pool, async (client) => {
        const { rowCount } = await client.query(
          `delete from project_secrets where name = $3 and project_id = (${ofProject})`,
          [projectId, caller.organizationId, name],
        );
        if (rowCount !== 1) return false;
        await writeAudit(client, caller, { action: 'project.secret.remove', subject: projectId, details: { name } });
        return true;
      });
    },
  };
}
