import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createFailedAttempts } from '../../../../api/access/failed-attempts.ts';
import { createKeyVerifier } from '../../../../api/access/key-verifier.ts';
import { createSiteLimits } from '../../../../api/access/site-limits.ts';
import { createOptionalModel } from '../../../../api/assistant/retrieval/optional-model.ts';
import type { StoredKey } from '../../../../db/for-service/access.ts';
import { createKeyText, digestOf } from '../../../../db/organizations/key-format.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets a minute pass, and sets the clock back by an hour. */
function setClockBack() {
  vi.advanceTimersByTime(60_000);
  vi.setSystemTime(Date.now() - 3_600_000);
}

it('refuses a revoked key', async () => {
  const { key, id, secret } = createKeyText('admin');
  let hasEnded = false;
  const verifier = createKeyVerifier({
    pepper: 'pepper',
    findKey: async () => ({ id, kind: 'admin', digest: digestOf('pepper', secret), hasEnded }) as StoredKey,
    touchKeys: async () => undefined,
  });
  expect(await verifier.verify(key)).not.toBeNull();
  hasEnded = true;
  setClockBack();
  expect(await verifier.verify(key)).toBeNull();
});

it('reads the limits of a site again', async () => {
  let requestsPerDay = 1;
  const findByDomain = async () => ({ id: 'site', requestsPerMinute: null, requestsPerDay }) as never;
  const limitsOf = createSiteLimits({ sites: { findByDomain } });
  await limitsOf({ organizationId: 'org' }, 'acme');
  requestsPerDay = 2;
  setClockBack();
  expect(await limitsOf({ organizationId: 'org' }, 'acme')).toMatchObject({ requestsPerDay: 2 });
});

it('blocks an address no longer than it was told', async () => {
  const take = async () => [{ allowed: false, remaining: 0, resetSeconds: 30 }];
  const failures = createFailedAttempts({ limiter: { take } });
  expect(await failures.count('1.1.1.1')).toBe(30);
  setClockBack();
  expect(failures.blockedSeconds('1.1.1.1')).toBe(0);
});

it('asks a model again that has failed', async () => {
  const deps = { log: pino({ level: 'silent' }), name: 'embedding', instead: 'searching by words', timeoutMs: 60_000 };
  const model = createOptionalModel(deps);
  const { signal } = new AbortController();
  expect(await model.ask(() => Promise.reject(new Error('down')), signal)).toBeNull();
  setClockBack();
  expect(await model.ask(async () => 'up', signal)).toBe('up');
});
