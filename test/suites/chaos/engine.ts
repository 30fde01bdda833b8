import { readJobsOptions, runWorkerKills } from './jobs.ts';
import { createRealEngine } from './real-engine.ts';

/** A twentieth of the engine's own reads and writes fails, half of the writes after they were done. */
const faults = 0.05;

/**
 * The worker kills once more, on Temporal's production server over PostgreSQL with its built-in faults. Work takes longer
 * there: kills come at a pace at which a job that was hit can go on before it is hit again.
 */
export function runEngineChaos(args: string[]): Promise<number> {
  const options = readJobsOptions(args, { jobs: 40, kills: 60, workers: 3, gapMs: 2_500 });
  return runWorkerKills('engine', options, createRealEngine({ faults }));
}
