import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import ssh2 from 'ssh2';
import { describe, expect, it } from 'vitest';
import { mark } from '../../../../lib/redaction/mark.ts';
import { secretPartOf } from '../../../../lib/redaction/private-key.ts';
import { createRedactor } from '../../../../lib/redaction/redactor.ts';

const inPem = (key: ReturnType<typeof createPrivateKey>, type: 'pkcs1' | 'sec1' | 'pkcs8') =>
  String(key.export({ type: type as 'pkcs8', format: 'pem' }));
const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const elliptic = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;
const openSsh = (type: 'ed25519' | 'rsa' | 'ecdsa', bits: number) =>
  ssh2.utils.generateKeyPairSync(type as 'rsa', { bits }).private;

/** Returns a different one on each call. */
const kinds: Record<string, () => string> = {
  'ed25519 in the format of OpenSSH': () => openSsh('ed25519', 256),
  'RSA in the format of OpenSSH': () => openSsh('rsa', 2048),
  'ECDSA in the format of OpenSSH': () => openSsh('ecdsa', 521),
  'RSA in PKCS#1': () => inPem(rsa(), 'pkcs1'),
  'RSA in PKCS#8': () => inPem(rsa(), 'pkcs8'),
  'P-256 in SEC 1': () => inPem(elliptic('prime256v1'), 'sec1'),
  'P-521 in SEC 1': () => inPem(elliptic('secp521r1'), 'sec1'),
  'P-256 in PKCS#8': () => inPem(elliptic('prime256v1'), 'pkcs8'),
  'P-384 in PKCS#8': () => inPem(elliptic('secp384r1'), 'pkcs8'),
  'ed25519 in PKCS#8': () => inPem(generateKeyPairSync('ed25519').privateKey, 'pkcs8'),
};
/** The longest part of a line that may remain in any form: shorter than the parts that are matched. */
const harmless = 39;

describe.each(Object.entries(kinds))('a private key, %s,', (kind, create) => {
  const key = create();
  const secret = secretPartOf(key);
  const redact = createRedactor([secret]);
  const lines = key.split('\n').filter((line) => line.length >= 40 && secret.includes(line));

  it('is recognized by its secret part, not by its type', () => {
    expect(secretPartOf(create()).slice(0, 24)).not.toBe(secret.slice(0, 24));
    if (kind.includes('OpenSSH')) return;
    const { d = '' } = createPrivateKey(key).export({ format: 'jwk' });
    const scalar = Buffer.from(d, 'base64url').subarray(3);
    expect(Buffer.from(secret, 'base64').includes(scalar)).toBe(true);
  });

  it('is redacted line by line, in all its forms', () => {
    const longestLeft = (text: string) =>
      Math.max(
        ...redact(`(${text})`)
          .split(/[()]|\[redacted\]/)
          .map(({ length }) => length),
      );
    expect(longestLeft(secret)).toBe(0);
    expect(lines.length > 0 || secret.length < 64).toBe(true);
    for (const line of lines) {
      expect(redact(`(${line})`)).toBe(`(${mark})`);
      expect(redact(Array.from(line).toReversed().join(''))).toBe(mark);
      expect(redact(Buffer.from(line).toString('hex'))).toBe(mark);
      for (const coded of [encodeURIComponent(line), ...['', 'x', 'xy'].map((before) => btoa(before + line))])
        expect(longestLeft(coded)).toBeLessThanOrEqual(harmless);
    }
  });
});

it('keeps lines of a foreign key, and what all keys of a type have in common', () => {
  const redact = createRedactor([secretPartOf(openSsh('ed25519', 256))]);
  for (const line of openSsh('ed25519', 256).split('\n').slice(1, 4)) expect(redact(line)).toBe(line);
});

it('is redacted quickly, whatever the key and the text', () => {
  const redact = createRedactor(['A'.repeat(16_000)]);
  expect(redact('A'.repeat(50_000)).length).toBeLessThan(1_000);
}, 60_000);
