import type { ProfileCall, SandboxLimits } from './profile.ts';
import type { CommandEnd } from './running-command.ts';

/** What the process that runs commands is made with. */
export interface HostedOptions {
  /** For this worker alone. */
  directory: string;
  limits: SandboxLimits;
  /** What commands may reach; null: nothing. */
  network: { hosts: readonly string[]; privateHosts: readonly string[] } | null;
  /** What commands check certificates with, in PEM; null leaves that to the machine. */
  authorities: string | null;
}

/** What it is told: to open the sandbox, first of all and once. */
export type SandboxRequest =
  | { type: 'open'; options: HostedOptions }
  | { type: 'run'; id: number; call: ProfileCall }
  | { type: 'stop'; id: number };

/** What it answers. */
export type SandboxAnswer =
  | { type: 'opened'; problem: string | null; limitsMemory: boolean }
  | { type: 'ended'; id: number; end: CommandEnd }
  | { type: 'failed'; id: number; message: string; isDiskFull: boolean };
