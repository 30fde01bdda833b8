import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import type { ApiCaller } from '../../../../api/access/api-caller.ts';
import { createProofOfWork } from '../../../../api/access/proof-of-work.ts';

const halfAnHour = 30 * 60_000;
const began = Date.parse('2026-03-01T12:00:00Z');

/** A proof of work whose clock, keys and addresses the test sets. */
function proofOfWork() {
  const at = { now: began, keyId: 'key_1', address: '192.0.2.1' };
  const counts = new Map<string, number>();
  const proofs = createProofOfWork({
    pepper: 'pepper',
    limiter: {
      take: async (counters) =>
        counters.map(({ key, policy }) => {
          const count = (counts.get(key) ?? 0) + 1;
          counts.set(key, count);
          return { allowed: true, remaining: policy.limit - count, resetSeconds: 1 };
        }),
    },
    addressOf: () => at.address,
    now: () => at.now,
  });
  const caller = () => ({ keyId: at.keyId, rules: { proofOfWork: true, captcha: null } }) as unknown as ApiCaller;
  const requestOf = (proof: string) =>
    ({ headers: { origin: 'https://docs.example.com', 'x-proof-of-work': proof } }) as unknown as IncomingMessage;
  return {
    at,
    issue: (hasCaptcha = false) => proofs.issue(requestOf(''), caller(), { hasCaptcha }),
    check: (proof: string) => proofs.check(requestOf(proof), caller()),
  };
}

function solve({ challenge, bits }: { challenge: string; bits: number }): string {
  for (let nonce = 0; ; nonce += 1) {
    const text = `${challenge}.${nonce}`;
    if (Math.clz32(createHash('sha256').update(text).digest().readUInt32BE()) >= bits) return text;
  }
}

it.each([false, true])('a solution expires after half an hour (CAPTCHA: %s)', async (hasCaptcha) => {
  const { at, issue, check } = proofOfWork();
  const challenge = await issue(hasCaptcha);
  expect(challenge.expiresAt).toEqual(new Date(began + halfAnHour));
  const proof = solve(challenge);
  expect(check(proof)).toMatch(/^[\w-]{12}$/);
  at.now = began + halfAnHour - 1;
  expect(check(proof)).toMatch(/^[\w-]{12}$/);
  at.now += 1;
  expect(() => check(proof)).toThrow(
    expect.objectContaining({ status: 428, message: expect.stringMatching(/^The X-Proof-Of-Work has expired\./) }),
  );
  // a new one takes its place
  expect(check(solve(await issue(hasCaptcha)))).toMatch(/^[\w-]{12}$/);
});

it('gets harder with the challenges of a key, whichever addresses ask for them', async () => {
  const { at, issue } = proofOfWork();
  const bits: number[] = [];
  for (let count = 0; count < 241; count += 1) {
    at.address = `198.51.100.${count}`;
    bits.push((await issue()).bits);
  }
  expect([0, 59, 60, 119, 120, 239, 240].map((number) => bits[number])).toEqual([14, 14, 15, 15, 16, 16, 17]);
  at.keyId = 'key_2';
  expect((await issue()).bits).toBe(14);
});

it('adds what one address asks for, up to a limit', async () => {
  const { issue } = proofOfWork();
  const bits: number[] = [];
  for (let count = 0; count < 400; count += 1) bits.push((await issue()).bits);
  // after 80, each count has doubled: three times for the address, once for the key
  expect([bits[9], bits[10], bits[79], bits.at(-1)]).toEqual([14, 15, 18, 22]);
});
