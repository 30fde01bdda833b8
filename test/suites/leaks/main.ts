import { runPlanted } from './run.ts';

/** `npm run planted -- [--secrets n]` */
process.exitCode = (await runPlanted(process.argv.slice(2))) === 0 ? 0 : 1;
