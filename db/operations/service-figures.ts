import type { Pool } from 'pg';

/** What the whole service has done and does now, of all organizations together. */
export interface ServiceFigures {
  jobs: { status: string; count: number }[];
  waiting: number;
  oldestWaitingSeconds: number;
  /** Jobs whose start Temporal has not confirmed. */
  unstarted: number;
  pendingDeliveries: number;
  workers: number;
  inputTokens: number;
  outputTokens: number;
  costMicros: number;
}

export interface ServiceFigureStore {
  read(): Promise<ServiceFigures>;
}

/** Figures for monitoring. */
export function createServiceFigureStore(pool: Pool): ServiceFigureStore {
  return {
    async read() {
      const [jobs, others] = await Promise.all([
        pool.query<ServiceFigures['jobs'][number]>(
          'select status, count(*)::integer as count from jobs group by status order by status',
        ),
        pool.query<Omit<ServiceFigures, 'jobs'>>(
          `select count(*) filter (where status = 'active' and phase = 'queued')::integer as waiting,
                  coalesce(extract(epoch from now() - min(updated_at) filter (where status = 'active' and phase = 'queued')), 0)
                    ::float8 as "oldestWaitingSeconds",
                  coalesce(sum(input_tokens), 0)::float8 as "inputTokens",
                  coalesce(sum(output_tokens), 0)::float8 as "outputTokens",
                  coalesce(sum(cost_micros), 0)::float8 as "costMicros",
                  (select count(*)::integer from job_outbox) as unstarted,
                  (select count(*)::integer from webhook_deliveries where status = 'pending') as "pendingDeliveries",
                  (select count(*)::integer from workers where seen_at > now() - interval '1 minute') as workers
           from jobs`,
        ),
      ]);
      const [figures] = others.rows;
      if (figures === undefined) throw new Error('The figures of the service gave no row.');
      return { ...figures, jobs: jobs.rows };
    },
  };
}
