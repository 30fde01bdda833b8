import { describe, expect, it } from 'vitest';
import { createFailedAttempts } from '../../../../api/access/failed-attempts.ts';
import { createRateLimiter } from '../../../../api/access/rate-limiter.ts';

const policy = { name: 'job', limit: 3, windowSeconds: 60 };
const other = { name: 'ip', limit: 1, windowSeconds: 60 };

function refusedConnection(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
}

function stage() {
  const state = { now: 1_200_000, fallbacks: 0 };
  const limiter = createRateLimiter({
    store: { take: () => Promise.reject(refusedConnection()) },
    onFallback: () => (state.fallbacks += 1),
    now: () => state.now,
  });
  return { limiter, state };
}

describe('createRateLimiter without its store', () => {
  it('falls back to a limit per process', async () => {
    const { limiter, state } = stage();
    const answers = [];
    for (let count = 0; count < 5; count += 1) answers.push(...(await limiter.take([{ key: 'a', policy }])));
    expect(answers.map(({ allowed }) => allowed)).toEqual([true, true, true, false, false]);
    expect(answers.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0, 0]);
    expect(answers.every(({ resetSeconds }) => resetSeconds >= 1 && resetSeconds <= 120)).toBe(true);
    expect(state.fallbacks).toBe(5);
  });

  it('slides: right after a full window almost nothing is free, after two everything is', async () => {
    const { limiter, state } = stage();
    const allowed = async () => (await limiter.take([{ key: 'a', policy }]))[0]?.allowed;
    for (let count = 0; count < 3; count += 1) await allowed();
    state.now += 61_000;
    expect(await allowed()).toBe(false);
    state.now += 120_000;
    expect([await allowed(), await allowed(), await allowed(), await allowed()]).toEqual([true, true, true, false]);
  });

  it('charges no limit if one is exhausted', async () => {
    const { limiter } = stage();
    await limiter.take([{ key: 'b', policy: other }]);
    const refused = await limiter.take([
      { key: 'a', policy },
      { key: 'b', policy: other },
    ]);
    expect(refused.map((answer) => answer.allowed)).toEqual([true, false]);
    expect((await limiter.take([{ key: 'a', policy }]))[0]).toMatchObject({ allowed: true, remaining: 2 });
  });

  it('does not hide other errors of the store', async () => {
    const limiter = createRateLimiter({ store: { take: () => Promise.reject(new Error('a bug')) } });
    await expect(limiter.take([])).rejects.toThrow('a bug');
  });
});

describe('createFailedAttempts', () => {
  it('blocks an address after a hundred wrong keys, and no other', async () => {
    const { limiter, state } = stage();
    const failures = createFailedAttempts({ limiter, now: () => state.now });
    for (let count = 0; count < 100; count += 1) expect(await failures.count('1.1.1.1')).toBe(0);
    const wait = await failures.count('1.1.1.1');
    expect(wait).toBeGreaterThan(0);
    expect(failures.blockedSeconds('1.1.1.1')).toBe(wait);
    expect(failures.blockedSeconds('2.2.2.2')).toBe(0);
    state.now += wait * 1000;
    expect(failures.blockedSeconds('1.1.1.1')).toBe(0);
  });
});
