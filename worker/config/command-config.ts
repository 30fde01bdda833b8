import { z } from 'zod';
import { parseRunHosts } from '../../activities/sandbox/network.ts';
import type { SandboxLimits } from '../../activities/sandbox/profile.ts';

/** What one command of an agent may use. */
export interface CommandLimits extends SandboxLimits {
  maxSeconds: number;
  /** What it may reach; none: it has no network. */
  hosts: string[];
}

function hostsOf(text: string, context: z.RefinementCtx): string[] {
  const parsed = parseRunHosts(text);
  if (parsed.ok) return parsed.hosts;
  context.addIssue({ code: 'custom', message: parsed.problem });
  return z.NEVER;
}

const wholeNumber = (from: number, to: number) => {
  const rule = `must be a whole number from ${from} to ${to}`;
  return z.coerce.number(rule).int(rule).min(from, rule).max(to, rule);
};

export const commandVariables = z.object({
  DOCKET_RUN: z.enum(['on', 'off'], 'must be on or off').default('on'),
  DOCKET_RUN_SECONDS: wholeNumber(1, 480).default(120),
  DOCKET_RUN_MEMORY_MB: wholeNumber(64, 1_000_000).default(2_048),
  DOCKET_RUN_PROCESSES: wholeNumber(16, 100_000).default(256),
  DOCKET_RUN_DISK_MB: wholeNumber(1, 10_000).default(200),
  DOCKET_JOB_DISK_MB: wholeNumber(1, 1_000_000).optional(),
  DOCKET_RUN_HOSTS: z.string().transform(hostsOf).default([]),
});

/** Null: working copies lie on the disk of the worker. */
export function jobDisksOf(env: z.infer<typeof commandVariables>): { growthBytes: number } | null {
  return env.DOCKET_JOB_DISK_MB === undefined ? null : { growthBytes: env.DOCKET_JOB_DISK_MB * 2 ** 20 };
}

/** Null: agents run no commands. */
export function commandLimitsOf(env: z.infer<typeof commandVariables>): CommandLimits | null {
  if (env.DOCKET_RUN === 'off') return null;
  return {
    maxSeconds: env.DOCKET_RUN_SECONDS,
    hosts: env.DOCKET_RUN_HOSTS,
    memoryBytes: env.DOCKET_RUN_MEMORY_MB * 2 ** 20,
    processes: env.DOCKET_RUN_PROCESSES,
    diskBytes: env.DOCKET_RUN_DISK_MB * 2 ** 20,
  };
}
