import { readJobsOptions, runWorkerKills } from './jobs.ts';
import { createRealEngine } from './real-engine.ts';

/** A twentieth of the engine's own reads and writes fails, half of the writes after they were done. */
const faults = 0.05;

/** The worker kills once more, on Temporal's production server over PostgreSQL with its built-in faults. */
export function runEngineChaos(args: string[]): Promise<number> {
  const options = readJobsOptions(args, { jobs: 40, kills: 60, workers: 2, gapMs: 1_500 });
  return runWorkerKills('engine', options, createRealEngine({ faults }));
}
