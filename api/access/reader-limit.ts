import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AppContext } from '../http/app-context.ts';
import { ApiError } from '../http/errors.ts';
import type { ApiCaller } from './api-caller.ts';
import type { KeyUses } from './key-uses.ts';
import type { RateLimitCounter } from '../../db/operations/rate-limits.ts';
import { proofSpent } from './errors.ts';
import type { EnforceRateLimit } from './rate-limit.ts';
import type { SiteLimits, SiteLimitsOf } from './site-limits.ts';

export interface ReaderLimitDeps {
  enforceRateLimit: EnforceRateLimit;
  addressOf: (request: IncomingMessage) => string;
  keyUses: Pick<KeyUses, 'note'>;
  siteLimitsOf: SiteLimitsOf;
  limits: { assistantPerHour: number; assistantPerIpPerDay: number };
}

/** Requests with one solved challenge, which is valid for half an hour. */
const requestsPerProof = 200;
/** Share of the hourly requests of an organization that are for one reader token, which is valid for up to an hour. */
const tokenShare = 0.1;

/** Creates the limits of requests with an assistant key. */
export function createReaderLimit({ enforceRateLimit, addressOf, keyUses, siteLimitsOf, limits }: ReaderLimitDeps) {
  const perAddress = { name: 'ip', limit: limits.assistantPerIpPerDay, windowSeconds: 86_400 };
  const perProof = { name: 'proof', limit: requestsPerProof, windowSeconds: 3_600 };
  const perToken = { name: 'token', limit: Math.ceil(limits.assistantPerHour * tokenShare), windowSeconds: 3_600 };
  const perOrganization = { name: 'org', limit: limits.assistantPerHour, windowSeconds: 3_600 };

  /**
   * Counts an assistant-key request against the limits of its organization, its address, its session, its key and its
   * site. What proves a session is its solved challenge or its reader token; without either, it cannot be told from
   * others of its address. Throws 428 when only the challenge has served all its requests.
   */
  const limitReader = async (
    ctx: AppContext,
    caller: ApiCaller,
    { proofId, domain }: { proofId: string | null; domain: string | null },
  ): Promise<void> => {
    const { keyId, organizationId, rules } = caller;
    const token = String(ctx.req.headers['x-reader-token'] ?? '');
    // those who are signed in try out what readers get
    const site = rules === undefined || domain === null ? null : await siteLimitsOf({ organizationId }, domain);
    try {
      await enforceRateLimit(ctx, [
        { key: `assistant-ip:${addressOf(ctx.req)}`, policy: perAddress },
        { key: `assistant-org:${organizationId}`, policy: perOrganization },
        ...(proofId === null ? [] : [{ key: `assistant-proof:${proofId}`, policy: perProof, refusal: proofSpent }]),
        ...(rules === undefined || token === ''
          ? []
          : [{ key: `assistant-token:${digestOf(token)}`, policy: perToken }]),
        ...(rules === undefined ? [] : countersOf('key', keyId, rules)),
        ...(site === null ? [] : countersOf('site', site.id, site)),
      ]);
      keyUses.note(keyId, false);
    } catch (error) {
      if (error instanceof ApiError && error.status === 429) keyUses.note(keyId, true);
      throw error;
    }
  };

  return {
    limitReader,
    /**
     * Counts a request for a challenge against a limit of its address alone. It needs no proof: counted against what
     * readers share, such requests would lock them out.
     */
    limitChallenge: (ctx: AppContext): Promise<void> =>
      enforceRateLimit(ctx, [{ key: `challenges-ip:${addressOf(ctx.req)}`, policy: perAddress }]),
  };
}

/** Tokens are counted before they are verified: by its digest, a forged token has its own counter. */
function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

function countersOf(
  subject: 'key' | 'site',
  id: string,
  { requestsPerMinute, requestsPerDay }: Omit<SiteLimits, 'id'>,
): RateLimitCounter[] {
  const limits = [
    { unit: 'minute', limit: requestsPerMinute, windowSeconds: 60 },
    { unit: 'day', limit: requestsPerDay, windowSeconds: 86_400 },
  ];
  return limits.flatMap(({ unit, limit, windowSeconds }) => {
    const name = `${subject}-${unit}`;
    return limit === null ? [] : [{ key: `assistant-${name}:${id}`, policy: { name, limit, windowSeconds } }];
  });
}
