import { readTool } from '../../../lib/inputs/tool-arguments.ts';
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
const isOption = first.startsWith('-');
if (/^(?:-h|--help)$/.test(first) || (!isOption && !(first in suites))) {
  readTool(
    {
      command: 'npm run chaos --',
      about:
        'Injects faults while jobs run, and checks that nothing is lost or done twice. SUITE --help lists the options of one.',
      words: { name: 'SUITE', known: Object.keys(suites) },
    },
    [first],
  );
}
const [name, args] = isOption ? ['mixed', [first, ...rest]] : [first, rest];
process.exitCode = (await suites[name]?.(args)) === 0 ? 0 : 1;
