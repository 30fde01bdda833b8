import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { ApiConfig } from '../config.ts';
import { createAddressReader } from './client-address.ts';
import { createFailedAttempts, type FailedAttempts } from './failed-attempts.ts';
import type { KeyVerifier } from './key-verifier.ts';
import { createAuthentication } from './authentication.ts';
import { createProofOfWork, type ProofOfWork } from './proof-of-work.ts';
import { createRateLimit, type EnforceRateLimit } from './rate-limit.ts';
import { createRateLimiter } from './rate-limiter.ts';
import type { RequestHolders } from './request-holders.ts';
import { createSessionCookie, type SessionCookie } from './session-cookie.ts';
import type { ServiceStores } from '../service-stores.ts';
import type { ApiStores } from '../stores.ts';
import { createStreamSlots, type AcquireStreamSlot } from './stream-slots.ts';
import type { AppContext } from '../http/app-context.ts';
import type { Callers } from '../http/define-route.ts';
import { tooManyAnswers, tooManyStreams, unauthorized, foreignOrigin, noOrigin } from '../http/errors.ts';
import type { OpenAnswers } from '../http/streams/open-answers.ts';
import type { ApiCaller } from './api-caller.ts';
import type { KeyUses } from './key-uses.ts';
import { createReaderLimit } from './reader-limit.ts';
import { createSiteLimits } from './site-limits.ts';
import { createVerifyKey, type VerifyKey } from './verify-key.ts';
import { isOneOfOrigins, originsOf } from '../../lib/inputs/origin.ts';

/** Admits a request by the access rule of its route, or throws 401, 403 or 429. Readers are rate-limited. */
export type Admission = { [Key in keyof Callers]: (ctx: AppContext) => Callers[Key] | Promise<Callers[Key]> };

/** Access checks and limits shared by all routers. */
export interface RequestAccess {
  /** Returns the caller of a request, whose response ends with the caller's access. */
  authenticate(ctx: AppContext, kind: ApiCaller['kind']): Promise<ApiCaller>;
  admit: Admission;
  verifyKey: VerifyKey;
  failures: FailedAttempts;
  cookie: SessionCookie;
  enforceRateLimit: EnforceRateLimit;
  acquireStreamSlot: AcquireStreamSlot;
  /** Takes one of the concurrent answers of an address. */
  acquireAnswerSlot: AcquireStreamSlot;
  /** Returns a signal that aborts when the access of a request ends. */
  accessEnded: OpenAnswers['accessEnded'];
  addressOf: (request: IncomingMessage) => string;
  issueChallenge: ProofOfWork['issue'];
}

export interface RequestAccessDeps {
  config: Pick<ApiConfig, 'http' | 'keyPepper' | 'rateLimits'>;
  stores: Pick<ApiStores, 'rateLimits' | 'sites'>;
  service: Pick<ServiceStores, 'signedIn'>;
  log: Logger;
  verifier: KeyVerifier;
  holders: RequestHolders;
  openAnswers: OpenAnswers;
  keyUses: Pick<KeyUses, 'note'>;
}

/** Most paths of readers name a site. */
const siteParams = z.object({ domain: z.string() });

/** An address may have 1% of its daily answers in progress at once, but at least `minAnswers`. */
const answersPerDay = 100;
const minAnswers = 100;

/** Creates the key and session checks and the limits that all routers share. */
export function createRequestAccess({
  config,
  stores,
  service,
  log,
  verifier,
  holders,
  openAnswers,
  keyUses,
}: RequestAccessDeps): RequestAccess {
  const addressOf = createAddressReader({ trustedProxies: config.http.trustedProxies });
  const limiter = createRateLimiter({
    store: stores.rateLimits,
    onFallback: (error) => log.warn({ err: error }, 'rate limits are counted per process'),
  });
  const failures = createFailedAttempts({ limiter });
  const verifyKey = createVerifyKey({ verifier, failures, addressOf });
  const cookie = createSessionCookie({ pepper: config.keyPepper, baseUrl: config.http.baseUrl });
  const { byKeyOrSession, bySession } = createAuthentication({
    verifyKey,
    sessions: service.signedIn,
    cookie,
    onExposedKey: (keyId) => log.warn({ keyId }, 'a browser sent an admin key; revoke it'),
  });
  function admitted<Caller extends ApiCaller>(ctx: AppContext, caller: Caller): Caller {
    holders.name(caller.organizationId);
    openAnswers.admit(ctx, caller);
    return caller;
  }
  const authenticate: RequestAccess['authenticate'] = async (ctx, kind) =>
    admitted(ctx, await byKeyOrSession(ctx.req, kind));
  const acquireStreamSlot = createStreamSlots({ max: config.rateLimits.eventStreams, refusal: tooManyStreams });
  const { assistantPerIpPerDay } = config.rateLimits;
  const acquireAnswerSlot = createStreamSlots({
    max: Math.max(minAnswers, Math.ceil(assistantPerIpPerDay / answersPerDay)),
    refusal: tooManyAnswers,
  });
  const enforceRateLimit = createRateLimit({ limiter });
  const siteLimitsOf = createSiteLimits(stores);
  const limits = config.rateLimits;
  const { limitReader, limitChallenge } = createReaderLimit({
    enforceRateLimit,
    addressOf,
    keyUses,
    siteLimitsOf,
    limits,
  });
  const proofs = createProofOfWork({ pepper: config.keyPepper, limiter, addressOf });
  async function authenticateReader(ctx: AppContext): Promise<ApiCaller> {
    const caller = await authenticate(ctx, 'assistant');
    checkOrigin(ctx, caller);
    return caller;
  }
  async function admitReader(ctx: AppContext & { params?: unknown }): Promise<ApiCaller> {
    const caller = await authenticateReader(ctx);
    const proofId = proofs.check(ctx.req, caller);
    const domain = siteParams.safeParse(ctx.params).data?.domain ?? null;
    // runs while the request is counted; an error is thrown where it is awaited
    const site = domain === null ? undefined : stores.sites.findByDomain(caller, domain);
    site?.catch(() => undefined);
    await limitReader(ctx, caller, { proofId, domain });
    return { ...caller, site };
  }
  const admit: Admission = {
    admin: (ctx) => authenticate(ctx, 'admin'),
    assistant: admitReader,
    async 'assistant-unproven'(ctx) {
      const caller = await authenticateReader(ctx);
      await limitChallenge(ctx);
      return caller;
    },
    async session(ctx) {
      const caller = await bySession(ctx.req, 'admin');
      if (caller === null) throw unauthorized('You are not signed in, or your session has ended. Sign in again.');
      return admitted(ctx, caller);
    },
    none: () => null,
  };
  const { accessEnded } = openAnswers;
  return {
    authenticate,
    admit,
    verifyKey,
    failures,
    cookie,
    enforceRateLimit,
    acquireStreamSlot,
    acquireAnswerSlot,
    accessEnded,
    addressOf,
    issueChallenge: proofs.issue,
  };
}

/**
 * Throws 403 when a key that has allowed origins is used from elsewhere. Otherwise names the origin in the CORS headers
 * of the response. The refusal may be read by any page, so that its author sees why.
 */
function checkOrigin(ctx: AppContext, { rules }: Pick<ApiCaller, 'rules'>): void {
  if (rules === undefined || rules.allowedOrigins.length === 0) return;
  const origins = originsOf(ctx.req);
  if (origins.length === 0) {
    if (!rules.allowsNoOrigin) throw noOrigin();
    return;
  }
  const origin = origins.find((one) => isOneOfOrigins(one, rules.allowedOrigins));
  if (origin === undefined) throw foreignOrigin();
  ctx.set('Access-Control-Allow-Origin', origin);
  ctx.vary('Origin');
}
