import { runJobsChaos } from './jobs.ts';
import { runRepliesChaos } from './replies.ts';

/** `npm run chaos -- [jobs] --jobs n --kills n --halts n --seed n`, `npm run chaos -- replies --runs n --kills n --seed n` */
const suites: Record<string, (args: string[]) => Promise<number>> = { jobs: runJobsChaos, replies: runRepliesChaos };

const [first = 'jobs', ...rest] = process.argv.slice(2);
const [name, args] = first.startsWith('--') ? ['jobs', [first, ...rest]] : [first, rest];
const run = suites[name];
if (run === undefined) console.error(`There is no "${name}"; there is: ${Object.keys(suites).join(', ')}.`);
process.exitCode = run !== undefined && (await run(args)) === 0 ? 0 : 1;
