import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, redact } from '../../../activities/redaction.ts';

const secret = 'tok-7Kq/9+Zx"w_Vb~42';

describe('redact', () => {
  const shaped = [
    'svc_Ab3dEfGh1jKlMnOpQr',
    'svc_dsc_Ab3dEfGh1jKlMnOpQr',
    'ghp_0123456789abcdefghijABCDEFGHIJ012345',
    'ghs_0123456789abcdefghijABCDEFGHIJ012345',
    'github_pat_11ABCDEFG0123456789_abcdefghijklmnop',
    'glpat-0123456789abcdefghij',
    'sk-ant-api03-0123456789abcdefghij',
    'sk-proj-0123456789abcdefghij',
    'AIzaSyA0123456789abcdefghijABCDEFGHIJ01',
    'AKIA0123456789ABCDEF',
    'xoxb-0123456789-abcdefghij',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N',
  ];
  it.each(shaped)('takes out %s without having been told of it', (token) => {
    expect(redact(`before ${token} after`, [])).toBe('before [redacted] after');
  });

  it.each(shaped.filter((token) => /^(svc_dsc|gh|glpat|sk-)/.test(token)))('takes out %s in base64', (token) => {
    for (const prefix of ['', 'x', 'xy', 'x-access-token:']) {
      const encoded = Buffer.from(`${prefix}${token}`).toString('base64');
      expect(redact(`data ${encoded}.`, [])).not.toContain(Buffer.from(token).toString('base64').slice(8, 28));
      expect(redact(`data ${encoded}.`, [])).toContain('[redacted]');
    }
  });

  it('keeps the address and takes the credential out of a URL', () => {
    expect(redact('fatal: https://x-access-token:abc@github.com/a/b.git', [])).toBe(
      'fatal: https://[redacted]@github.com/a/b.git',
    );
  });

  it('keeps the scheme and takes the credential out of a header', () => {
    expect(redact('authorization: Bearer abc.def-0123', [])).toBe('authorization: Bearer [redacted]');
    expect(redact('authorization: basic eC1hY2Nlc3MtdG9rZW46YWJj', [])).toBe('authorization: basic [redacted]');
  });

  it('takes out a private key, also one that was cut off', () => {
    const key = '-----BEGIN OPENSSH PRIVATE KEY-----\nabc\ndef\n';
    expect(redact(`a ${key}-----END OPENSSH PRIVATE KEY----- b`, [])).toBe('a [redacted] b');
    expect(redact(`a ${key}`, [])).toBe('a [redacted]');
  });

  it.each([
    'Send `Authorization: Bearer <ADMIN_API_KEY>` with each request.',
    'Bearer token, basic authentication, svc_ and svc_dsc_ prefixes, sk-learn-like-css-class-names',
    'See https://example.com/@scope/package and mail someone@example.com, git@github.com:a/b.git',
    'const x = a ? b : c; // eyJ is how a JWT begins',
  ])('leaves ordinary text alone: %s', (text) => {
    expect(redact(text, [secret])).toBe(text);
  });

  it('takes out NUL', () => {
    expect(redact('a\0b', [])).toBe('ab');
  });

  it('ignores secrets too short to be told from words', () => {
    expect(redact('a b c', ['', 'b'])).toBe('a b c');
  });

  it('takes out a known secret wherever it stands and however it is written', () => {
    const encodings: ((text: string) => string)[] = [
      (text) => text,
      (text) => encodeURIComponent(text),
      (text) => JSON.stringify(text),
      (text) => Buffer.from(text).toString('base64'),
      (text) => Buffer.from(text).toString('base64url'),
      (text) => Buffer.from(text).toString('hex'),
      (text) =>
        Buffer.from(text)
          .toString('base64')
          .replace(/(.{5})/g, '$1\n'),
      (text) => Array.from(text).join('\r\n'),
      (text) => Array.from(text).toReversed().join(''),
    ];
    const scrub = createRedactor([secret]);
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.constantFrom(...encodings), (before, after, encode) => {
        const text = encode(`${before}${secret}${after}`);
        const output = scrub(text).replace(/\s/g, '');
        return output.includes('[redacted]') && !output.includes(encode(secret).replace(/\s/g, ''));
      }),
      { numRuns: 500 },
    );
  });
});
