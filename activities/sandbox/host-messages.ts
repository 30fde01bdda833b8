import type { SandboxLimits } from './command-environment.ts';
import type { EngineName } from './engine.ts';
import type { ProfileCall } from './profile.ts';
import type { CommandEnd } from './running-command.ts';
import type { OutputSample } from './sample-output.ts';

/** Options of the process that runs commands. */
export interface HostedOptions {
  /** Used by this worker only. */
  directory: string;
  limits: SandboxLimits;
  engine?: EngineName;
  /** Hosts that commands may reach; null for none. */
  network: { hosts: readonly string[]; privateHosts: readonly string[] } | null;
  /** PEM certificates that commands use to verify peers; null leaves the choice to the machine. */
  authorities: string | null;
}

/** Request to the process. The first one opens the sandbox, exactly once. */
export type SandboxRequest =
  | { type: 'open'; options: HostedOptions }
  | { type: 'run'; id: number; call: ProfileCall; isWatched: boolean }
  | { type: 'stop'; id: number };

/** Response of the process. */
export type SandboxAnswer =
  | { type: 'opened'; problem: string | null; kind: string; limitsMemory: boolean }
  | { type: 'printed'; id: number; sample: OutputSample }
  | { type: 'ended'; id: number; end: CommandEnd }
  | { type: 'failed'; id: number; message: string; isDiskFull: boolean };
