import { runFuzz } from './run.ts';

/** `npm run fuzz -- [--requests n] [--seed n]` */
process.exitCode = (await runFuzz(process.argv.slice(2))) === 0 ? 0 : 1;
