import type { Callers } from '../http/define-route.ts';

/**
 * Header fields that decide whether a request is admitted, by the access rule of its route: readers are counted by their
 * token even where it opens no pages. `Authorization` and `Cookie` keep a response out of shared caches as they are.
 */
export const admissionFields: Readonly<Record<keyof Callers, readonly string[]>> = {
  admin: [],
  assistant: ['X-Reader-Token', 'X-Proof-Of-Work'],
  'assistant-unproven': [],
  session: [],
  none: [],
};
