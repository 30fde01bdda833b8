import type { Pool } from 'pg';

/** Figures of the whole service, over all organizations. */
export interface ServiceFigures {
  jobs: { status: string; count: number }[];
  waiting: number;
  oldestWaitingSeconds: number;
  /** Turns of jobs whose start Temporal has not confirmed within a minute. */
  unstarted: number;
  pendingDeliveries: number;
  workers: number;
  inputTokens: number;
  outputTokens: number;
  costMicros: number;
}

/** Fewer rows than this are not worth compacting. */
const minCompacted = 100;

export type ServiceFigureStore = ReturnType<typeof createServiceFigureStore>;

/** Creates the store of figures for monitoring. */
export function createServiceFigureStore(pool: Pool) {
  return {
    async read(): Promise<ServiceFigures> {
      const [jobs, others] = await Promise.all([
        pool.query<ServiceFigures['jobs'][number]>(
          `select status, sum(jobs)::integer as count from (
             select status, jobs from job_totals
             union all select status, count(*) from jobs where status = 'active' group by status
           ) as totals group by status having sum(jobs) > 0 order by status`,
        ),
        pool.query<Omit<ServiceFigures, 'jobs'>>(
          `with ended as (
             select coalesce(sum(input_tokens), 0) as input_tokens, coalesce(sum(output_tokens), 0) as output_tokens,
                    coalesce(sum(cost_micros), 0) as cost_micros
             from job_totals
           )
           select count(*) filter (where phase = 'queued')::integer as waiting,
                  coalesce(extract(epoch from now() - min(updated_at) filter (where phase = 'queued')), 0)
                    ::float8 as "oldestWaitingSeconds",
                  ((select input_tokens from ended) + coalesce(sum(input_tokens), 0))::float8 as "inputTokens",
                  ((select output_tokens from ended) + coalesce(sum(output_tokens), 0))::float8 as "outputTokens",
                  ((select cost_micros from ended) + coalesce(sum(cost_micros), 0))::float8 as "costMicros",
                  (select count(*)::integer from job_outbox where created_at < now() - interval '1 minute') as unstarted,
                  (select count(*)::integer from webhook_deliveries where status = 'pending') as "pendingDeliveries",
                  (select count(*)::integer from workers where seen_at > now() - interval '1 minute') as workers
           from jobs where status = 'active'`,
        ),
      ]);
      const [figures] = others.rows;
      if (figures === undefined) throw new Error('The statement of the service figures returned no row.');
      return { ...figures, jobs: jobs.rows };
    },

    /** Compacts the totals of ended jobs into one row per status. */
    async addUp(): Promise<void> {
      // skips rows that another process is compacting
      await pool.query(
        `with appended as (
           delete from job_totals where ctid = any(array(
             select ctid from job_totals where (select count(*) from job_totals) > ${minCompacted} for update skip locked
           )) returning *
         )
         insert into job_totals
         select status, sum(jobs), sum(input_tokens), sum(output_tokens), sum(cost_micros) from appended group by status`,
      );
    },
  };
}
