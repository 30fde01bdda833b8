import type { Command } from 'commander';
import { vi } from 'vitest';
import { readTemporalSettings } from '../../lib/temporal/temporal-credentials.ts';
import type { CommandContext } from '../../cli/commands/context.ts';
import { createProgram } from '../../cli/commands/program.ts';
import { testPepper } from './build.ts';
import type { TestDatabase } from './database.ts';
import { testKeys } from './encryption.ts';

export interface TestCommands {
  /** Runs a command in this process and answers what it prints; a refusal is thrown. */
  docket(...args: string[]): Promise<string>;
  /** The same with `--json`; answers what that holds. */
  docketJson(...args: string[]): Promise<any>;
  /** What the newest command has printed. */
  printed(): string[];
}

/** The command line on a database, with settings of its own; `change` is read anew for each command. */
export function createTestCommands(
  database: () => TestDatabase,
  change: () => Partial<CommandContext> = () => ({}),
): TestCommands {
  let lines: string[] = [];
  async function docket(...args: string[]): Promise<string> {
    const program = createProgram((work) =>
      work({
        pool: database().pool,
        keyPepper: testPepper,
        encryptionKeys: testKeys('k1'),
        readInput: () => Promise.resolve(''),
        baseUrl: 'http://127.0.0.1:8080',
        localRoot: '/srv/git',
        allowedHosts: ['github.com'],
        webhookAllowedHosts: ['127.0.0.1:9000'],
        temporal: readTemporalSettings({ TEMPORAL_ADDRESS: '127.0.0.1:1' }),
        ...change(),
      }),
    );
    quiet(program);
    lines = [];
    using _ = vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
    await program.parseAsync(args, { from: 'user' });
    return lines.join('\n');
  }
  return {
    docket,
    docketJson: async (...args) => JSON.parse(await docket(...args, '--json')),
    printed: () => lines,
  };
}

function quiet(command: Command): void {
  command.configureOutput({ writeErr: () => {} });
  command.commands.forEach(quiet);
}
