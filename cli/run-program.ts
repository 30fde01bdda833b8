import { isUtf8 } from 'node:buffer';
import { buffer } from 'node:stream/consumers';
import { CommanderError, type Command } from 'commander';
import { secretsOfEnvironment } from '../lib/redaction/environment-secrets.ts';
import { asOneLine } from '../lib/redaction/log-line.ts';
import { createRedactor } from '../lib/redaction/redactor.ts';
import { onUncaught } from '../lib/redaction/uncaught.ts';
import { messageOf } from '../local/start-error.ts';
import { CommandError } from './command-error.ts';

/** Exit code for a usage error. Commander would use 1, which means a refused request here. */
const misused = 2;

/**
 * Runs the program with this process's arguments. Errors print as one plain line with the environment's secrets
 * redacted.
 */
export async function runProgram(program: Command): Promise<void> {
  const redact = createRedactor(secretsOfEnvironment(process.env));
  const say = (error: unknown) => console.error(asOneLine(redact(messageOf(error))));
  onUncaught(say);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // the reader of a pipe may close it early, as "head" does
    if (error.code === 'EPIPE') process.exit();
    say(`The output could not be written: ${error.message}`);
    process.exit(1);
  });
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    // commander has already printed usage errors
    if (!(error instanceof CommanderError)) say(error);
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : misused;
  return error instanceof CommandError ? error.exitCode : 1;
}

/**
 * Reads standard input to its end. At a terminal, first explains how to end the input. Throws CommandError when it is no
 * UTF-8 text.
 */
export async function readInput(): Promise<string> {
  if (process.stdin.isTTY) console.error('Paste it, then press Enter and Ctrl-D.');
  const bytes = await buffer(process.stdin);
  if (!isUtf8(bytes)) throw new CommandError('Standard input is not UTF-8 text. Convert it, for example with iconv.');
  return new TextDecoder().decode(bytes);
}
