import { text } from 'node:stream/consumers';
import { CommanderError, type Command } from 'commander';
import { secretsOfEnvironment } from '../lib/redaction/environment-secrets.ts';
import { asOneLine } from '../lib/redaction/log-line.ts';
import { createRedactor } from '../lib/redaction/redactor.ts';
import { onUncaught } from '../lib/redaction/uncaught.ts';
import { messageOf } from '../local/start-error.ts';
import { CommandError } from './command-error.ts';

/** Commander's own code is 1, which here is a refusal. */
const misused = 2;

/** Runs the program with the arguments of this process. An error is one plain line, without a secret of the environment. */
export async function runProgram(program: Command): Promise<void> {
  const redact = createRedactor(secretsOfEnvironment(process.env));
  const say = (error: unknown) => console.error(asOneLine(redact(messageOf(error))));
  onUncaught(say);
  // the reader of a pipe may have seen enough, as "head" has
  process.stdout.on('error', () => process.exit());
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    // a mistake in the use of the command line was printed with it
    if (!(error instanceof CommanderError)) say(error);
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : misused;
  return error instanceof CommandError ? error.exitCode : 1;
}

/** Tells a person at a terminal how to end the input. */
export function readInput(): Promise<string> {
  if (process.stdin.isTTY) console.error('Paste it, then press Enter and Ctrl-D.');
  return text(process.stdin);
}
