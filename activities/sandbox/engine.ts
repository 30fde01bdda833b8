import { createHash } from 'node:crypto';
import type { PlacedCall } from './profile.ts';

/** Names of the engines; the first one is used unless another is set. */
export const engineNames = ['bubblewrap', 'podman'] as const;
export type EngineName = (typeof engineNames)[number];

/** Descriptor to which an engine reports the end of a command, and after which those of its inputs begin. */
export const statusFd = 5;

export interface EngineOptions {
  /** Holds the files of the engine; must not be shared with another process. */
  directory: string;
  /** PEM certificates that commands use to verify peers; null leaves the choice to the machine. */
  authorities: string | null;
}

/** A program that runs commands in namespaces of their own. */
export interface SandboxEngine {
  /** Files that it reads from the descriptors after `statusFd`. */
  inputs: readonly string[];
  /** Descriptor to which the outer of two sandboxes reports its first process; null if there is only one. */
  stageFd: number | null;
  /** Returns the user of the machine that a command runs as; null for the worker's own. */
  uidOf(call: Pick<PlacedCall, 'jobId' | 'environment'>): number | null;
  /** Prepares a command; `prefix` holds the words before the engine's own. */
  prepare(call: PlacedCall, prefix: readonly string[]): Promise<PreparedCommand>;
}

export interface PreparedCommand extends AsyncDisposable {
  /** Text for a POSIX shell that has the descriptors of the launcher. */
  script: string;
  /** Whether the shell's input stays open: the script ends the command when it is closed. */
  isWatched: boolean;
  /** File with the first process of the sandbox, from the time that it says something; null where it is reported. */
  pidFile: string | null;
}

/** Returns the user that a job's commands run as. */
export function uidOfJob({ first, count }: { first: number; count: number }, jobId: string): number {
  return first + (createHash('sha256').update(jobId).digest().readUInt32LE() % count);
}
