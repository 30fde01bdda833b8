import type { Job } from '../http/types.ts';

/** Empty for a default. */
export type EffortChoice = '' | NonNullable<Job['details']['reasoningEffort']>;

/** Returns the choices of a reasoning effort; the first is the default. */
export function effortsWith(byDefault: string) {
  return [
    ['', byDefault],
    ['low', 'low'],
    ['medium', 'medium'],
    ['high', 'high'],
  ] as const satisfies (readonly [EffortChoice, string])[];
}
