import type { Pool } from 'pg';
import type { TurnRef } from '../../workflows/contract/job.ts';
import { newId } from '../ids.ts';
import { wakeWatchers } from '../jobs/wake-watchers.ts';
import { withTransaction } from '../pool.ts';
import { toStoredJson, toStoredText } from '../stored-text.ts';

export interface LayerRef {
  projectId: string;
  key: string;
}

/** State of a layer: complete, being built by another worker, failed, or claimed by the caller, which builds it. */
type LayerClaim =
  | { state: 'complete'; id: string; description: unknown }
  | { state: 'building' }
  | { state: 'failed'; failure: string; agoMs: number }
  | { state: 'claimed'; id: string };

const removeBeyond = `
  delete from environment_layers where id in (
    select id from (
      select id, project_id,
             row_number() over (partition by project_id order by used_at desc, id) as position,
             sum(bytes) over (order by used_at desc, id) as total
      from environment_layers
      where held_until is null and project_id in (
        select id from projects where organization_id = (
          select organization_id from projects where id = (select project_id from environment_layers where id = $1)
        )
      )
    ) as ranked
    where id <> $1 and (position > $2 and project_id = (select project_id from environment_layers where id = $1)
                        or total > $3)
  )`;

export type EnvironmentLayerStore = ReturnType<typeof createEnvironmentLayerStore>;

/** Stores what setups installed, for the workers to share. */
export function createEnvironmentLayerStore(pool: Pool) {
  return {
    /**
     * Claims the layer for `leaseMs` unless it is complete or held, or a build has failed in the last `failureMs`; removes
     * what a dead builder left.
     */
    async claim(claim: LayerRef & { leaseMs: number; failureMs: number }): Promise<LayerClaim> {
      const { projectId, key, leaseMs, failureMs } = claim;
      const id = newId('lay_');
      return withTransaction(pool, async (client) => {
        const { rows: failures } = await client.query<{ failure: string; agoMs: number }>(
          `select failure, extract(epoch from now() - failed_at)::float8 * 1000 as "agoMs" from environment_layers
           where project_id = $1 and key = $2 and held_until is not null
             and failed_at > now() - $3::float8 * interval '1 millisecond' and failed_at <= now()
             -- a secret that was set since may have been the cause
             and not exists (select from project_secrets where project_id = $1 and updated_at > failed_at)`,
          [projectId, key, failureMs],
        );
        if (failures[0] !== undefined) return { state: 'failed', ...failures[0] };
        const { rows: left } = await client.query<{ failedAt: Date | null; failure: string | null }>(
          `delete from environment_layers where project_id = $1 and key = $2 and held_until < now()
           returning failed_at as "failedAt", failure`,
          [projectId, key],
        );
        // others may still wait for the build that failed
        const { failedAt = null, failure = null } = left[0] ?? {};
        const inserted = await client.query(
          `insert into environment_layers (id, project_id, key, held_until, failed_at, failure)
           select $1, id, $3, now() + $4::float8 * interval '1 millisecond', $5, $6 from projects where id = $2
           on conflict (project_id, key) do nothing`,
          [id, projectId, key, leaseMs, failedAt, failure],
        );
        if (inserted.rowCount === 1) return { state: 'claimed', id };
        const { rows } = await client.query<{ id: string; description: unknown }>(
          `update environment_layers set used_at = now()
           where project_id = $1 and key = $2 and held_until is null returning id, description`,
          [projectId, key],
        );
        const [row] = rows;
        return row === undefined ? { state: 'building' } : { state: 'complete', ...row };
      });
    },

    /** Returns the complete layer that a project used last; null if it has none. */
    async last(projectId: string): Promise<{ id: string; key: string; description: unknown } | null> {
      const { rows } = await pool.query<{ id: string; key: string; description: unknown }>(
        `select id, key, description from environment_layers
         where project_id = $1 and held_until is null order by used_at desc limit 1`,
        [projectId],
      );
      return rows[0] ?? null;
    },

    /** Renews the lease of a claimed layer; false when another builder has taken it over. */
    async renew(id: string, leaseMs: number): Promise<boolean> {
      const { rowCount } = await pool.query(
        `update environment_layers set held_until = now() + $2::float8 * interval '1 millisecond'
         where id = $1 and held_until is not null`,
        [id, leaseMs],
      );
      return rowCount === 1;
    },

    /**
     * Appends a notice that the setup starts to an active turn, and holds the layer longer. Does neither, and returns
     * false, when another builder has taken it over.
     */
    async start(id: string, leaseMs: number, { jobId, turn, text }: TurnRef & { text: string }): Promise<boolean> {
      // the job's row first, as the deletion of a project does it
      const { rowCount } = await pool.query(
        `with job as materialized (
           select id from jobs where id = $3 and turn = $4 and status = 'active' for key share
         ), held as (
           update environment_layers set held_until = now() + $2::float8 * interval '1 millisecond'
           where id = $1 and held_until is not null and (select count(*) from job) >= 0 returning id
         )
         select (select append_job_events(id, $4, null, $5) from job) from held`,
        [id, leaseMs, jobId, turn, toStoredJson([{ type: 'notice', data: { text } }])],
      );
      wakeWatchers(pool, jobId);
      return rowCount === 1;
    },

    /** Gives a claim up, with all of its chunks, and stores why its build failed, if it did. */
    async release(id: string, failure: string | null): Promise<void> {
      if (failure === null) {
        await pool.query('delete from environment_layers where id = $1 and held_until is not null', [id]);
        return;
      }
      await pool.query(
        `update environment_layers set held_until = now(), failed_at = now(), failure = $2
         where id = $1 and held_until is not null`,
        [id, toStoredText(failure)],
      );
    },

    /** Removes a layer, because what is stored of it cannot be read. */
    async remove(id: string): Promise<void> {
      await pool.query('delete from environment_layers where id = $1', [id]);
    },

    /** Adds a chunk to a claimed layer; throws when the claim is gone. */
    async addChunk(id: string, position: number, content: Buffer): Promise<void> {
      await pool.query('insert into environment_chunks (layer_id, position, content) values ($1, $2, $3)', [
        id,
        position,
        content,
      ]);
    },

    /**
     * Completes a claimed layer, and removes the layers of the project beyond the newest `maxLayers`, and those of its
     * organization beyond `maxBytes`, least recently used first. False when another builder has taken it over.
     */
    async complete(layer: { id: string; description: unknown; maxLayers: number; maxBytes: number }): Promise<boolean> {
      const { id, description, maxLayers, maxBytes } = layer;
      return withTransaction(pool, async (client) => {
        const { rowCount } = await client.query(
          `update environment_layers
           set held_until = null, used_at = now(), description = $2,
               bytes = (select coalesce(sum(octet_length(content)), 0) from environment_chunks where layer_id = $1)
           where id = $1 and held_until is not null`,
          [id, toStoredJson(description)],
        );
        if (rowCount === 1) await client.query(removeBeyond, [id, maxLayers, maxBytes]);
        return rowCount === 1;
      });
    },

    /** Returns a chunk; null after the last one. */
    async chunk(id: string, position: number): Promise<Buffer | null> {
      const { rows } = await pool.query<{ content: Buffer }>(
        'select content from environment_chunks where layer_id = $1 and position = $2',
        [id, position],
      );
      return rows[0]?.content ?? null;
    },
  };
}
