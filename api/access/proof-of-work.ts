import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { originsOf } from '../../lib/inputs/origin.ts';
import { proofOutdated, proofRefused, proofRequired } from './errors.ts';
import type { ApiCaller } from './api-caller.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** A puzzle for a page: find `nonce` so that SHA-256 of `{challenge}.{nonce}` begins with `bits` zero bits. */
interface Challenge {
  challenge: string;
  bits: number;
  expiresAt: Date;
}

export interface ProofOfWorkDeps {
  /** Secret of the installation. */
  pepper: string;
  limiter: RateLimiter;
  addressOf: (request: IncomingMessage) => string;
  now?: () => number;
}

/** Some 16,000 hashes. */
const minBits = 14;
/** Some 4 million hashes. */
const maxBits = 22;
const validMs = 30 * 60_000;
const unlimited = 1_000_000_000;
/** Challenges of a key in a minute, and of an address in an hour, above which each doubling costs one more bit. */
const calm = {
  key: { name: 'challenges', limit: unlimited, windowSeconds: 60, free: 60 },
  address: { name: 'challenges', limit: unlimited, windowSeconds: 3_600, free: 10 },
};

const termsSchema = z.object({
  id: z.string(),
  key: z.string(),
  origin: z.string().nullable(),
  bits: z.int(),
  until: z.int(),
  captcha: z.boolean(),
});

export type ProofOfWork = ReturnType<typeof createProofOfWork>;

/**
 * Creates the proof of work that a public key can require (as in Hashcash). A challenge is signed and not stored, and its
 * solution is sent with each request, so that any process can check it.
 */
export function createProofOfWork({ pepper, limiter, addressOf, now = Date.now }: ProofOfWorkDeps) {
  const signatureOf = (terms: string) => createHmac('sha256', pepper).update(`challenge ${terms}`).digest();

  return {
    /**
     * Returns a challenge for the key and the origin of a request. It becomes harder with each one requested, and needs no work if the reader has solved a CAPTCHA.
     */
    async issue(
      request: IncomingMessage,
      { keyId }: ApiCaller,
      { hasCaptcha }: { hasCaptcha: boolean } = { hasCaptcha: false },
    ): Promise<Challenge> {
      const answers = await limiter.take([
        { key: `challenge-key:${keyId}`, policy: calm.key },
        { key: `challenge-ip:${addressOf(request)}:${keyId}`, policy: calm.address },
      ]);
      const free = [calm.key.free, calm.address.free];
      const extra = answers.map(({ remaining }, at) => doublings((unlimited - remaining) / (free[at] ?? 1)));
      const bits = hasCaptcha ? 0 : Math.min(maxBits, minBits + extra.reduce((sum, one) => sum + one, 0));
      const until = now() + validMs;
      const id = randomBytes(9).toString('base64url');
      const content = { id, key: keyId, origin: request.headers.origin ?? null, bits, until, captcha: hasCaptcha };
      const terms = Buffer.from(JSON.stringify(content)).toString('base64url');
      const challenge = `${terms}.${signatureOf(terms).toString('base64url')}`;
      return { challenge, bits, expiresAt: new Date(until) };
    },

    /**
     * Returns the id of the solved challenge in the `X-Proof-Of-Work` header, or null if the key requires none. Throws
     * 428 when it is missing, unsolved, expired, or for another key or origin.
     */
    check(request: IncomingMessage, { keyId, rules }: ApiCaller): string | null {
      const { proofOfWork = false, captcha: required = null } = rules ?? {};
      if (!proofOfWork && required === null) return null;
      const proof = String(request.headers['x-proof-of-work'] ?? '');
      if (proof === '') throw proofRequired();
      const [, terms, signature] = /^([\w-]{1,1000})\.([\w-]{43})\.\d{1,16}$/.exec(proof) ?? [];
      if (terms === undefined || signature === undefined) throw proofRefused();
      if (!timingSafeEqual(Buffer.from(signature, 'base64url'), signatureOf(terms))) throw proofRefused();
      const { id, key, origin, bits, until, captcha } = termsSchema.parse(
        JSON.parse(Buffer.from(terms, 'base64url').toString()),
      );
      const origins = originsOf(request);
      const isOwn = origin === null ? origins.length === 0 : origins.includes(origin);
      if (key !== keyId || !isOwn) throw proofRefused();
      if (zeroBits(createHash('sha256').update(proof).digest()) < bits) throw proofRefused();
      if (required !== null && !captcha) throw proofRefused();
      if (until <= now()) throw proofOutdated();
      return id;
    },
  };
}

function doublings(ratio: number): number {
  return ratio <= 1 ? 0 : Math.ceil(Math.log2(ratio));
}

function zeroBits(digest: Buffer): number {
  const first = digest.readUInt32BE();
  return first === 0 ? 32 : Math.clz32(first);
}
