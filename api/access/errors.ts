import type { Role } from '../../lib/roles.ts';
import { ApiError, fixed } from '../http/errors.ts';

const howToProve =
  'Get a challenge from POST /discovery/v1/challenge, solve it, and send it as X-Proof-Of-Work: {challenge}.{nonce}.';

/** Returns the error for a key that requires a proof of work, in a request without one. */
export const proofRequired = fixed(428, `This API key requires a proof of work. ${howToProve}`);
/** Returns the error for a proof of work that is not the solution of a challenge for this key and this website. */
export const proofRefused = fixed(
  428,
  `The X-Proof-Of-Work does not solve a challenge for this key and website. ${howToProve}`,
);
/** Returns the error for a proof of work whose challenge has expired. */
export const proofOutdated = fixed(428, `The X-Proof-Of-Work has expired. ${howToProve}`);
/** Returns the error for a proof of work that has served all its requests. */
export const proofSpent = fixed(428, `The X-Proof-Of-Work has reached its limit of requests. ${howToProve}`);
/** Returns the error for a challenge without the response of the CAPTCHA that the key requires. */
export const captchaRequired = fixed(400, 'This API key requires a CAPTCHA. Send its response as captcha.');
/** Returns the error for a response that the CAPTCHA's provider does not accept. */
export const captchaRefused = fixed(
  403,
  'The CAPTCHA was not solved, or its response has expired or was used before. Solve it again.',
);
/** Returns the error for a CAPTCHA whose provider does not answer. */
export const captchaUnavailable = fixed(503, 'The CAPTCHA cannot be verified at the moment. Try again in a moment.', 5);

/** Returns the error for a key or session that may not do what the endpoint does. */
export function roleTooLow(needed: Role): ApiError {
  return new ApiError(
    403,
    `This requires the ${needed} role. Ask an admin of the organization for a key or a sign-in link with that role.`,
  );
}

/** Returns the error for a key that would change its own role. */
export const ownRole = fixed(409, 'A key cannot change its own role. Use another key with the admin role.');
/** Returns the error for the last key that can administer the organization. */
export const lastAdminKey = fixed(
  409,
  'This is the last key of the organization with the admin role. Create another one first.',
);
/** Returns the error for an organization that the browser has no session of. */
export const notSignedInTo = fixed(
  404,
  'This browser is not signed in to that organization. Sign in with its key or a link.',
);
