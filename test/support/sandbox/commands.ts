import type { Command } from 'commander';
import { vi } from 'vitest';
import { readTemporalSettings } from '../../../lib/temporal/temporal-credentials.ts';
import { createProgram } from '../../../cli/commands/program.ts';
import type { OperatorContext } from '../../../cli/operator/context.ts';
import { addEncryptionCommands } from '../../../cli/operator/encryption.ts';
import { addOrganizationCommands } from '../../../cli/operator/organization.ts';
import { createOperatorStores } from '../../../cli/operator/stores.ts';
import { testPepper } from '../database/build.ts';
import type { TestDatabase } from '../database/database.ts';
import { testKeys } from '../database/encryption.ts';

export interface TestCommands {
  /** Runs a command in this process and returns its output; throws when the command fails. */
  docket(...args: string[]): Promise<string>;
  /** Runs a command with `--json` and returns the parsed output. */
  docketJson(...args: string[]): Promise<any>;
  /** Returns the output of the newest command. */
  printed(): string[];
}

interface TestSettings {
  /** Used by the operator's commands. */
  database: TestDatabase;
  /** Environment of the commands over HTTP. */
  env?: NodeJS.ProcessEnv;
  input?: string;
  operator?: Partial<Omit<OperatorContext, 'stores'>>;
}

/** Creates the command line of a checkout; `settings` is called for each command. */
export function createTestCommands(settings: () => TestSettings): TestCommands {
  let lines: string[] = [];
  async function docket(...args: string[]): Promise<string> {
    const { database, env, input = '', operator } = settings();
    const program = createProgram({
      env: { DOCKET_HOME: '/nowhere/docket', ...env },
      readInput: () => Promise.resolve(input),
      replay: null,
    });
    const withOperator = <T>(work: (context: OperatorContext) => Promise<T>) => {
      const { pool } = database;
      const { encryptionKeys = testKeys('k1') } = operator ?? {};
      return work({
        stores: createOperatorStores({ pool, keyPepper: testPepper, encryptionKeys }),
        localRoot: '/srv/git',
        temporal: readTemporalSettings({ TEMPORAL_ADDRESS: '127.0.0.1:1' }),
        ...operator,
        encryptionKeys,
      });
    };
    addOrganizationCommands(program, withOperator);
    addEncryptionCommands(program, withOperator);
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
