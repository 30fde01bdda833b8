import { z } from 'zod';
import type { AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { time } from '../../lib/time-schemas.ts';
import type { RequestAccess } from './request-access.ts';

export const challengeRoutes = {
  createChallenge: defineRoute({
    method: 'post',
    path: '/discovery/v1/challenge',
    summary: 'Returns a challenge for a key that requires a proof of work.',
    description:
      'Find a whole number `nonce` so that the SHA-256 digest of `{challenge}.{nonce}` begins with `bits` zero bits, and send that text as `X-Proof-Of-Work` with each request of the key. It is valid for the website that asked for it.',
    key: 'assistant-unproven',
    responses: {
      200: json(
        'The challenge. It is harder the more of them the key and the address have asked for.',
        z.object({ challenge: z.string(), bits: z.int(), expiresAt: time }),
      ),
    },
  }),
};

/** Creates the route that hands out challenges. */
export function createChallengeRouter({
  admit,
  issueChallenge,
}: Pick<RequestAccess, 'admit' | 'issueChallenge'>): AppRouter {
  return mountRoutes(admit, challengeRoutes, {
    async createChallenge({ ctx, caller }) {
      const { challenge, bits, expiresAt } = await issueChallenge(ctx.req, caller);
      return { challenge, bits, expiresAt: expiresAt.toISOString() };
    },
  });
}
