import { z } from 'zod';
import type { SandboxLimits } from '../activities/clients/sandbox/profile.ts';

/** What one command of an agent may use. */
export interface CommandLimits extends SandboxLimits {
  maxSeconds: number;
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
});

/** Null: agents run no commands. */
export function commandLimitsOf(env: z.infer<typeof commandVariables>): CommandLimits | null {
  if (env.DOCKET_RUN === 'off') return null;
  return {
    maxSeconds: env.DOCKET_RUN_SECONDS,
    memoryBytes: env.DOCKET_RUN_MEMORY_MB * 2 ** 20,
    processes: env.DOCKET_RUN_PROCESSES,
    diskBytes: env.DOCKET_RUN_DISK_MB * 2 ** 20,
  };
}
