import { fixed } from '../http/errors.ts';

/** Returns one error for a missing question set and for one of another site. */
export const questionSetNotFound = fixed(404, 'The question set was not found.');
export const questionSetTaken = fixed(409, 'Another question set of the site has this name. Choose another one.');
export const questionSetChanged = fixed(
  409,
  'The question set has changed since it was read. Read it again, and repeat the change.',
);
/** Returns one error for a missing evaluation and for one of another site. */
export const evaluationNotFound = fixed(404, 'The evaluation was not found.');
export const evaluationRunning = fixed(
  409,
  'Another evaluation of the site is running. Wait until it ends, or stop it.',
);
