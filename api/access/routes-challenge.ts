import { z } from 'zod';
import type { AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { time } from '../../lib/time-schemas.ts';
import { captchaSecretOwner, type Captcha, type KeyStore } from '../../db/organizations/keys.ts';
import type { SecretBox } from '../../lib/encryption/secret-box.ts';
import { captchaRefused, captchaRequired } from './errors.ts';
import type { ApiCaller } from './api-caller.ts';
import type { RequestAccess } from './request-access.ts';
import type { VerifyCaptcha } from './verify-captcha.ts';

export const challengeRoutes = {
  createChallenge: defineRoute({
    method: 'post',
    path: '/discovery/v1/challenge',
    summary: 'Returns a challenge for a key that requires a proof of work or a CAPTCHA.',
    description:
      'Find a whole number `nonce` so that the SHA-256 digest of `{challenge}.{nonce}` begins with `bits` zero bits, and send that text as `X-Proof-Of-Work` with each request of the key. It is valid for the website that requested it. For a key with a CAPTCHA, send the response of the CAPTCHA; then any number solves the challenge.',
    key: 'assistant-unproven',
    body: z
      .object({
        captcha: z.string().min(1).max(8_192).optional().meta({ description: 'The response of the CAPTCHA.' }),
      })
      .optional(),
    errors: [503],
    responses: {
      200: json(
        'The challenge. It becomes harder with each one that the key or the IP address requests.',
        z.object({ challenge: z.string(), bits: z.int(), expiresAt: time }),
      ),
    },
  }),
};

export interface ChallengeRouteDeps extends Pick<RequestAccess, 'admit' | 'issueChallenge'> {
  keys: Pick<KeyStore, 'captchaSecret'>;
  box: Pick<SecretBox, 'open'>;
  verifyCaptcha: VerifyCaptcha;
}

/** Creates the route that hands out challenges. */
export function createChallengeRouter({
  admit,
  issueChallenge,
  keys,
  box,
  verifyCaptcha,
}: ChallengeRouteDeps): AppRouter {
  /** Throws ApiError unless the reader has solved the CAPTCHA of the key. */
  async function checkCaptcha(caller: ApiCaller, provider: Captcha, response: string | undefined): Promise<void> {
    if (response === undefined) throw captchaRequired();
    const sealed = await keys.captchaSecret(caller, caller.keyId);
    if (sealed === null) throw captchaRefused();
    const secret = box.open(sealed, captchaSecretOwner(caller.keyId));
    if (!(await verifyCaptcha({ provider, secret, response }))) throw captchaRefused();
  }

  return mountRoutes(admit, challengeRoutes, {
    async createChallenge({ ctx, caller, body }) {
      const { captcha: response } = (await body()) ?? {};
      const { captcha: provider = null } = caller.rules ?? {};
      if (provider !== null) await checkCaptcha(caller, provider, response);
      const { challenge, bits, expiresAt } = await issueChallenge(ctx.req, caller, { hasCaptcha: provider !== null });
      return { challenge, bits, expiresAt: expiresAt.toISOString() };
    },
  });
}
