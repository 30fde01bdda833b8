import { createProgram } from './commands/program.ts';
import { readInput, runProgram } from './run-program.ts';

/** `npx docket`: the command line without what administers a database or replays a workflow. */

await runProgram(createProgram({ env: process.env, readInput, replay: null }));
