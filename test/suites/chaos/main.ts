import { runClockChaos } from './servers/clock.ts';
import { runCreatesChaos } from './creates.ts';
import { runDiskChaos } from './servers/disk.ts';
import { runTemporalChaos } from './servers/temporal.ts';
import { runFailpointsChaos } from './failpoints.ts';
import { runJobsChaos } from './jobs.ts';
import { runMixedChaos } from './mixed.ts';
import { runNetworkChaos } from './network.ts';
import { runPoisonChaos } from './poison.ts';
import { runRepliesChaos } from './replies.ts';
import { runStoresChaos } from './stores.ts';
import { runToolsChaos } from './tools.ts';

/** `npm run chaos -- <suite> --seed n …`; without a suite, `mixed` runs. */
const suites: Record<string, (args: string[]) => Promise<number>> = {
  jobs: runJobsChaos,
  mixed: runMixedChaos,
  failpoints: runFailpointsChaos,
  stores: runStoresChaos,
  creates: runCreatesChaos,
  temporal: runTemporalChaos,
  tools: runToolsChaos,
  image: (args) => runToolsChaos(args, { isInImage: true }),
  network: runNetworkChaos,
  disk: runDiskChaos,
  clock: runClockChaos,
  poison: runPoisonChaos,
  replies: runRepliesChaos,
};

const [first = 'mixed', ...rest] = process.argv.slice(2);
const [name, args] = first.startsWith('--') ? ['mixed', [first, ...rest]] : [first, rest];
const run = suites[name];
if (run === undefined) console.error(`There is no "${name}"; there is: ${Object.keys(suites).join(', ')}.`);
process.exitCode = run !== undefined && (await run(args)) === 0 ? 0 : 1;
