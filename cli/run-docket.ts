import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ReplayBundle } from './commands/context.ts';
import { createProgram } from './commands/program.ts';
import { addEncryptionCommands } from './operator/encryption.ts';
import { withOperator } from './operator/open-context.ts';
import { addOrganizationCommands } from './operator/organization.ts';
import { readInput, runProgram } from './run-program.ts';

/** Runs the command line of a checkout, which adds the operator's commands and replays jobs. */

const environmentFile = resolve(import.meta.dirname, '../.env');
if (existsSync(environmentFile)) process.loadEnvFile(environmentFile);

// loaded on demand: the replay code is heavier than all other commands together
const replay: ReplayBundle = async (...given) => (await import('./replay/replay-job.ts')).replayBundle(...given);
const program = createProgram({ env: process.env, readInput, replay });
addOrganizationCommands(program, withOperator);
addEncryptionCommands(program, withOperator);
await runProgram(program);
