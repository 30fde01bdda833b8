import type { Callers } from '../http/define-route.ts';

const token = 'X-Reader-Token';

/**
 * Header fields that decide whether a request is admitted, by the access rule of its route: readers are counted by their
 * token even where it opens no pages. `Authorization` and `Cookie` keep a response out of shared caches as they are.
 */
export const admissionFields: Readonly<Record<keyof Callers, readonly string[]>> = {
  admin: [],
  assistant: [token, 'X-Proof-Of-Work'],
  'assistant-unproven': [token],
  session: [],
  none: [],
};
