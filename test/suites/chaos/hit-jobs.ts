import { Client, Connection, type WorkflowExecutionDescription } from '@temporalio/client';
import type { Pool } from 'pg';
import { jobWorkflowId } from '../../../workflows/contract/messages.ts';
import type { TemporalNamespace } from './checks/check-executions.ts';

/** A job that a killed worker was working on. */
export interface HitJob {
  id: string;
  atMs: number;
}

/** A hit, and the time until the next useful step. */
export interface Recovery extends HitJob {
  tookMs: number;
}

export interface HitFinder extends AsyncDisposable {
  /** Filters the jobs with an activity that the worker has started, or with a workflow task in progress. */
  find(pid: number, jobIds: string[]): Promise<string[]>;
  /** Filters the jobs with an activity that the worker runs, according to Temporal. */
  findActive(pid: number, jobIds: string[]): Promise<string[]>;
}

/** Turns of the jobs whose workers are killed. */
export const turns = [1, 2];
const started = 2; // temporal.api.enums.v1.PendingActivityState and PendingWorkflowTaskState

export async function createHitFinder({
  temporalAddress,
  namespace = 'default',
}: TemporalNamespace): Promise<HitFinder> {
  const connection = await Connection.connect({ address: temporalAddress });
  const { workflow } = new Client({ connection, namespace });

  type Described = WorkflowExecutionDescription['raw'];
  const hasTask = ({ pendingWorkflowTask }: Described) => pendingWorkflowTask?.state === started;
  const hasActivity = (pid: number, { pendingActivities }: Described) =>
    (pendingActivities ?? []).some(
      ({ state, lastWorkerIdentity }) => state === started && lastWorkerIdentity?.startsWith(`${pid}@`) === true,
    );

  async function jobsWhere(jobIds: string[], isMeant: (described: Described) => boolean): Promise<string[]> {
    const found = await Promise.all(
      jobIds
        .flatMap((id) => turns.map((turn) => jobWorkflowId(id, turn)))
        .map(async (id) => isMeant((await workflow.getHandle(id).describe()).raw))
        .map((one) => one.catch(() => false)),
    );
    return jobIds.filter((_, index) => turns.some((_turn, at) => found[index * turns.length + at]));
  }

  return {
    find: (pid, jobIds) => jobsWhere(jobIds, (described) => hasTask(described) || hasActivity(pid, described)),
    findActive: (pid, jobIds) => jobsWhere(jobIds, (described) => hasActivity(pid, described)),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

/**
 * Time of each job that was hit from the kill to its next useful step: a stored answer or batch of tools, or its end.
 * If a job is hit again before that, the newer kill counts. A job whose work had ended, with only its outcome still to
 * be stored, is not counted.
 */
export async function measureRecovery<Hit extends HitJob>(pool: Pool, hits: Hit[]): Promise<(Hit & Recovery)[]> {
  const { rows } = await pool.query<{ id: string; atMs: number; isEnd: boolean }>(
    `select job_id as id, extract(epoch from useful_at)::float8 * 1000 as "atMs", "isEnd"
     from (
       select job_id, answered_at as useful_at, false as "isEnd" from job_steps
       union all select job_id, ended_at, false from job_steps
       union all select id, ended_at, true from jobs
     ) as useful where useful_at is not null order by useful_at`,
  );
  const useful = Map.groupBy(rows, ({ id }) => id);
  return hits.flatMap((hit) => {
    const { id, atMs } = hit;
    const own = useful.get(id) ?? [];
    if (own.some((row) => row.isEnd && row.atMs <= atMs)) return [];
    const next = own.find((row) => row.atMs > atMs)?.atMs ?? Number.POSITIVE_INFINITY;
    const isHitAgain = hits.some((other) => other.id === id && other.atMs > atMs && other.atMs < next);
    return isHitAgain ? [] : [{ ...hit, tookMs: next - atMs }];
  });
}

/** The longest time without a useful step of each job that has ended. */
export async function measurePauses(pool: Pool): Promise<{ id: string; ms: number }[]> {
  const { rows } = await pool.query<{ id: string; ms: number }>(
    `select id, max(extract(epoch from at - before))::float8 * 1000 as ms
     from (
       select id, at, lag(at) over (partition by id order by at) as before
       from (
         select id, created_at as at from jobs where ended_at is not null
         union all select job_id, answered_at from job_steps
         union all select job_id, ended_at from job_steps
         union all select id, ended_at from jobs
       ) as useful where at is not null
     ) as pauses where before is not null group by id`,
  );
  return rows;
}

export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
