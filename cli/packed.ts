import { CommandError } from './command-error.ts';
import { createProgram } from './commands/program.ts';
import { readInput, runProgram } from './run-program.ts';

/**
 * Entry point of `npx docket`: the command line without the commands that administer a database or replay a workflow. It
 * knows their names, to say where they are.
 */

const program = createProgram({ env: process.env, readInput, replay: null });
for (const name of ['org', 'encryption'])
  program
    .command(name, { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .action(() => {
      throw new CommandError(
        `"docket ${name}" works on the database of the service. Run "npm run docket -- ${name} …" in a Docket checkout, or "docker compose exec api node cli/docket.ts ${name} …" beside the service.`,
      );
    });
await runProgram(program);
