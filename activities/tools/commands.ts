import type { CommandCall, ToolContext } from './agent-tool.ts';
import type { OpenedSandbox } from '../sandbox/open-sandbox.ts';
import type { SandboxRoot } from '../sandbox/sandbox-root.ts';
import type { CommandEnvironment } from '../sandbox/command-environment.ts';
import type { LiveOutput } from './live-output.ts';
import type { CommandEnd } from '../sandbox/running-command.ts';
import { ImageError } from '../images/image-error.ts';
import type { Images } from '../images/images.ts';
import type { PreparedEnvironment } from '../environment/prepared-environment.ts';
import { commandIn } from './started-command.ts';
import type { ToolResult } from '../../db/for-worker/steps.ts';

/** Whether this worker runs commands: in its sandbox, or not and why; null when commands are disabled. */
export type Commands =
  | (OpenedSandbox & {
      maxSeconds: number;
      /** Folder of this process for what commands need while they run. */
      directory: string;
      hosts?: readonly string[];
      images?: CommandImages | null;
    })
  | null;

/** Images that commands may run in, instead of the worker's own programs. */
export interface CommandImages extends Images {
  /** Image of jobs that name none; null for the worker's own programs. */
  standard: string | null;
}

/** Timeout of all commands of a batch, which must end before its activity times out. */
const batchMs = 8 * 60_000;
/** A command with less time left is not started. */
const minMs = 1_000;

export const overDiskLimit = 'A command exceeded its disk limit.';

/** The image that commands run in, and the packages that were added to it. */
export interface BaseImage {
  /** Image that commands run in; null for the worker's own choice. */
  image: string | null;
  /** System packages that the image is extended with. */
  packages: string[];
}

export interface CommandContext {
  jobId: string;
  tree: string;
  environment: Partial<CommandEnvironment>;
  prepared: BaseImage & Pick<PreparedEnvironment, 'start' | 'profile'>;
  /** Time limit of one command. */
  maxSeconds: number;
  signal: AbortSignal;
  /** Sends the output of a command to watchers. */
  watch?(call: CommandCall): LiveOutput;
}

export interface CommandRunner {
  /** Absent if this worker runs no commands. */
  runCommand: ToolContext['runCommand'];
  /** Reports whether a command exceeded its disk limit; its changes are then discarded. */
  hasFilledDisk(): boolean;
}

/** Creates the runner for the commands of a batch, one after another. */
export function createCommandRunner(
  commands: Commands,
  { watch, prepared, maxSeconds, ...context }: CommandContext,
): CommandRunner {
  const { sandbox, images = null } = commands ?? { sandbox: null };
  const endAt = Date.now() + batchMs;
  let hasFilledDisk = false;
  async function runCommand(call: CommandCall): Promise<CommandEnd | null> {
    const leftMs = endAt - Date.now();
    if (sandbox === null || leftMs < minMs) return null;
    const timeoutMs = Math.min(call.timeoutMs, maxSeconds * 1_000, leftMs);
    const root = await rootOf(images, prepared, context.signal);
    const live = watch?.(call);
    let durationMs: number | null = null;
    try {
      const environment = { ...context.environment, root };
      const options = {
        command: commandIn(prepared, { ...call, timeoutMs }),
        timeoutMs,
        onOutput: live?.push,
        environment,
      };
      const end = await sandbox.run({ ...context, ...options });
      hasFilledDisk ||= end.stopped === 'disk';
      ({ durationMs } = end);
      return end;
    } finally {
      await live?.end(durationMs);
    }
  }
  return { runCommand: sandbox === null ? undefined : runCommand, hasFilledDisk: () => hasFilledDisk };
}

/** Returns the file system that commands run in; null for the worker's own programs. Throws ImageError. */
export async function rootOf(
  images: CommandImages | null,
  { image, packages }: BaseImage,
  signal: AbortSignal,
): Promise<SandboxRoot | null> {
  const base = await imageRootOf(images, image, signal);
  if (base === null || images === null || packages.length === 0) return base;
  const extended = await images.extended(base, packages);
  if (extended !== null) return extended;
  throw new ImageError('unavailable', 'The packages of the environment were removed from this worker meanwhile.');
}

/** Returns the file system of an image without packages; null for the worker's own programs. Throws ImageError. */
export async function imageRootOf(
  images: CommandImages | null,
  image: string | null,
  signal: AbortSignal,
): Promise<SandboxRoot | null> {
  const name = image ?? images?.standard ?? null;
  if (name === null) return null;
  if (images === null) throw new ImageError('refused', 'This worker runs no commands in images.');
  return images.provide(name, signal);
}

/** Returns the results of a batch whose changes were discarded, with the reason as a sentence. */
export function takenBack(
  results: ToolResult[],
  reason: string,
  isReadOnly: (toolName: string) => boolean,
): ToolResult[] {
  const note = `Undone: ${reason} The changes of all calls of this answer were discarded.`;
  return results.map((result) => {
    if (isReadOnly(result.toolName) && result.toolName !== 'finish') return result;
    return { ...result, output: `${result.output}\n[${note}]`, isError: true };
  });
}
