import { resolve } from 'node:path';
import { z } from 'zod';
import { flag, readTool } from '../../../lib/inputs/tool-arguments.ts';
import { benchChanges } from './changes.ts';
import { benchCapacity } from './capacity.ts';
import { benchCancel } from './cancel.ts';
import { benchContention } from './contention.ts';
import { benchDashboard } from './dashboard.ts';
import { benchEvents } from './events.ts';
import { benchWatchers } from './watchers.ts';
import { benchGetJob } from './get-job.ts';
import { benchLeave } from './leave.ts';
import { benchLongJob } from './long-job.ts';
import { benchRedact } from './redact.ts';
import { benchReplay } from './replay.ts';
import { benchSandbox } from './sandbox.ts';
import { benchSearch } from './search.ts';
import { benchSearchLoad } from './search-load.ts';
import { benchSnapshot } from './snapshot.ts';
import { benchSteps } from './steps.ts';
import { benchStreams } from './streams.ts';
import { benchWriters } from './writers.ts';
import { canPin } from './support/bench-process.ts';
import type { BenchOptions } from './support/options.ts';
import { createBenchServers } from './support/servers.ts';
import type { BenchServers } from './support/servers.ts';

const benches: Record<string, (servers: BenchServers, options: BenchOptions) => Promise<void>> = {
  cancel: benchCancel,
  capacity: benchCapacity,
  contention: benchContention,
  dashboard: benchDashboard,
  events: benchEvents,
  watchers: benchWatchers,
  writers: benchWriters,
  'get-job': benchGetJob,
  redact: benchRedact,
  replay: benchReplay,
  sandbox: benchSandbox,
  snapshot: benchSnapshot,
  steps: benchSteps,
  'long-job': benchLongJob,
  streams: benchStreams,
  leave: benchLeave,
  search: benchSearch,
  'search-load': benchSearchLoad,
  changes: benchChanges,
};

async function main(): Promise<void> {
  const { options: values, words: positionals } = readTool({
    command: 'npm run bench --',
    about: 'Measures each of the named parts against a baseline in the same run, or all of them.',
    options: {
      seconds: z
        .string()
        .regex(/^\d+(?:\.\d+)?$/, 'must be a number')
        .transform(Number)
        .refine((value) => value > 0, 'must be more than 0')
        .optional()
        .describe('length of a measurement (default: 2, or 1 with --quick)'),
      quick: flag().describe('fewer rounds, for a first impression'),
      profile: z.string().optional().describe('folder for the CPU profiles of the processes'),
    },
    words: { name: 'BENCH', known: Object.keys(benches) },
  });
  const seconds = values.seconds ?? (values.quick ? 1 : 2);
  const options: BenchOptions = {
    seconds,
    rounds: values.quick ? 2 : 5,
    isQuick: values.quick,
    serverFlags: values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(values.profile)}`],
  };
  if (!canPin) console.log('Processes cannot be tied to cores here: figures for one core are those of all.');
  await using servers = await createBenchServers();
  for (const name of positionals.length > 0 ? positionals : Object.keys(benches)) {
    await benches[name]?.(servers, options);
  }
}

await main();
