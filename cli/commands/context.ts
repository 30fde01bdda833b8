import type { Command } from 'commander';
import { createApi, type Api } from '../http/api.ts';
import { readApiSettings, type ApiSettings, type GlobalOptions, type KeyKind } from '../http/settings.ts';

/** Dependencies of the commands on the process they run in. */
export interface CommandContext {
  env: NodeJS.ProcessEnv;
  /** Reads standard input to its end. */
  readInput(): Promise<string>;
  /** Replays a downloaded bundle. Null where the program ships without Docket's workflow code. */
  replay: ReplayBundle | null;
}

export interface ReplayOptions {
  turn?: number;
  step?: number;
  json?: true;
}

/** Prints the job of a bundle file. `name` is the name that the user gave for the bundle. */
export type ReplayBundle = (bundle: { file: string; name: string }, options: ReplayOptions) => Promise<void>;

export async function connect(
  { env }: CommandContext,
  command: Command,
  kind: KeyKind = 'admin',
): Promise<ApiSettings & { api: Api }> {
  const settings = await readApiSettings(command.optsWithGlobals<GlobalOptions>(), env, kind);
  return { ...settings, api: createApi(settings) };
}
