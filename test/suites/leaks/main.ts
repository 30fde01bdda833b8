import { checkLeaks } from './run.ts';

/** `npm run leaks -- [--secrets n]` */
process.exitCode = (await checkLeaks(process.argv.slice(2))) === 0 ? 0 : 1;
