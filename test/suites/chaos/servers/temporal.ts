import { readJobsOptions, runWorkerKills } from '../jobs.ts';
import { createProductionServer } from './production-server.ts';

/** A twentieth of the server's own reads and writes fails, half of the writes after they were done. */
const faults = 0.05;

/**
 * The worker kills once more, on Temporal's production server over PostgreSQL with its built-in faults. Work takes longer
 * there: kills come at a pace at which a job that was hit can go on before it is hit again.
 */
export function runTemporalChaos(args: string[]): Promise<number> {
  const options = readJobsOptions(args, {
    suite: 'temporal',
    about: "Kills workers on Temporal's production server, which fails a twentieth of its own reads and writes.",
    defaults: { jobs: 40, kills: 60, workers: 3, gapMs: 2_500 },
  });
  return runWorkerKills('temporal', options, createProductionServer({ faults }));
}
