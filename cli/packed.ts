import { createProgram } from './commands/program.ts';
import { readInput, runProgram } from './run-program.ts';

/**
 * Entry point of `npx docket`: the command line without the commands that administer a database or replay a workflow.
 */

await runProgram(createProgram({ env: process.env, readInput, replay: null }));
