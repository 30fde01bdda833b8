import { readFile } from 'node:fs/promises';
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { z } from 'zod';
import { hostKeyLinesOf, hostKeySchema, problemWithSsh, sshKeySchema } from '../../lib/inputs/ssh-keys.ts';
import { CommandError, type CommandContext } from './context.ts';

/** How a project reaches its repositories by ssh. */
export interface SshOptions {
  sshKey?: string;
  sshKeyStdin?: true;
  removeSshKey?: true;
  sshKnownHosts?: string;
}

export interface SshChange {
  /** Null: forget it; undefined: as it is. */
  sshKey?: string | null;
  sshKnownHosts?: string[];
}

/** Adds the options; a key comes from a file or from standard input, never from the command line itself. */
export function addSshOptions(command: Command): Command {
  return command
    .option('--ssh-key <file>', 'private key without a passphrase, for repositories reached by ssh', readPath)
    .addOption(new Option('--ssh-key-stdin', 'the same, read from standard input').conflicts(['sshKey', 'tokenStdin']))
    .option(
      '--ssh-known-hosts <file>',
      "host keys, as ssh-keyscan prints them; compare them with what the server's owner publishes first",
      readPath,
    );
}

/** The option of what exists already. */
export function addRemoveSshKey(command: Command): Command {
  const option = new Option('--remove-ssh-key', 'forget its private key for ssh');
  return command.addOption(option.conflicts(['sshKey', 'sshKeyStdin']));
}

/** The change that the options ask for. Throws CommandError for what is no key. */
export async function sshOf({ readInput }: CommandContext, options: SshOptions): Promise<SshChange> {
  const { sshKey, sshKeyStdin, removeSshKey, sshKnownHosts } = options;
  const change: SshChange = {};
  if (removeSshKey === true) change.sshKey = null;
  if (sshKey !== undefined) change.sshKey = parsed(sshKeySchema, await textOf(sshKey), sshKey);
  if (sshKeyStdin === true) change.sshKey = parsed(sshKeySchema, await readInput(), 'Standard input');
  if (sshKnownHosts !== undefined) {
    const lines = hostKeyLinesOf(await textOf(sshKnownHosts));
    change.sshKnownHosts = lines.map((line) => parsed(hostKeySchema, line, `A line of ${sshKnownHosts}`));
  }
  return change;
}

/** Throws CommandError for a project that could not reach its repositories. */
export function checkSsh(project: Parameters<typeof problemWithSsh>[0]): void {
  const problem = problemWithSsh(project);
  if (problem !== null) throw new CommandError(`${problem} See --ssh-key and --ssh-known-hosts.`);
}

function readPath(text: string): string {
  if (text.includes('PRIVATE KEY')) throw new InvalidArgumentError('It must be the name of a file, not its content.');
  return text;
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new CommandError(`${file} cannot be read.`, { cause });
  }
}

function parsed<Value>(schema: z.ZodType<Value>, text: string, name: string): Value {
  const result = schema.safeParse(text);
  if (result.success) return result.data;
  throw new CommandError(`${name} ${result.error.issues[0]?.message ?? 'is not valid'}.`);
}
