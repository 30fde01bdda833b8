import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { ApiConfig } from '../config.ts';
import { createAddressReader } from './client-address.ts';
import { createFailedAttempts, type FailedAttempts } from './failed-attempts.ts';
import type { KeyVerifier } from './key-verifier.ts';
import { createAuthentication, type Authenticate } from './authentication.ts';
import { createRateLimit, type EnforceRateLimit } from './rate-limit.ts';
import { createRateLimiter } from './rate-limiter.ts';
import type { RequestHolders } from './request-holders.ts';
import { createSessionCookie, type SessionCookie } from './session-cookie.ts';
import type { ServiceStores } from '../service-stores.ts';
import type { ApiStores } from '../stores.ts';
import { createStreamSlots, type TakeStreamSlot } from './stream-slots.ts';
import type { OpenAnswers } from '../http/open-answers.ts';
import { createVerifyKey, type VerifyKey } from './verify-key.ts';

/** What every router needs to let a request in. */
export interface Gate {
  authenticate: Authenticate;
  verifyKey: VerifyKey;
  failures: FailedAttempts;
  cookie: SessionCookie;
  enforceRateLimit: EnforceRateLimit;
  takeStreamSlot: TakeStreamSlot;
  /** Aborted when the access of a request has ended. */
  accessEnded: OpenAnswers['accessEnded'];
  addressOf: (request: IncomingMessage) => string;
}

export interface GateDeps {
  config: Pick<ApiConfig, 'http' | 'keyPepper' | 'rateLimits'>;
  stores: Pick<ApiStores, 'rateLimits'>;
  service: Pick<ServiceStores, 'signedIn'>;
  log: Logger;
  verifier: KeyVerifier;
  holders: RequestHolders;
  openAnswers: OpenAnswers;
}

/** Keys, sessions and limits, shared by all routers. */
export function createGate({ config, stores, service, log, verifier, holders, openAnswers }: GateDeps): Gate {
  const addressOf = createAddressReader({ trustedProxies: config.http.trustedProxies });
  const limiter = createRateLimiter({
    store: stores.rateLimits,
    onFallback: (error) => log.warn({ err: error }, 'rate limits are counted by this process alone'),
  });
  const failures = createFailedAttempts({ limiter });
  const verifyKey = createVerifyKey({ verifier, failures, addressOf });
  const cookie = createSessionCookie({ pepper: config.keyPepper, baseUrl: config.http.baseUrl });
  const identify = createAuthentication({
    verifyKey,
    sessions: service.signedIn,
    cookie,
    onExposedKey: (keyId) => log.warn({ keyId }, 'an admin key came from a browser: revoke it'),
  });
  const authenticate: Authenticate = async (request, kind) => {
    const caller = await identify(request, kind);
    holders.name(caller.organizationId);
    openAnswers.admit(request, caller);
    return caller;
  };
  const takeStreamSlot = createStreamSlots({ most: config.rateLimits.eventStreams });
  const enforceRateLimit = createRateLimit({ limiter });
  const { accessEnded } = openAnswers;
  return { authenticate, verifyKey, failures, cookie, enforceRateLimit, takeStreamSlot, accessEnded, addressOf };
}
