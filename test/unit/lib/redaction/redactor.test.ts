import { describe, expect, it } from 'vitest';
import { createRedactor, redact } from '../../../../lib/redaction/redactor.ts';
import { fc, propertyRuns } from '../../../support/properties.ts';

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
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'npm_0123456789abcdefghijABCDEFGHIJ012345',
    'glrt-0123456789abcdefghij',
    'sk_live_0123456789abcdefghij',
    'hf_0123456789abcdefghijABCDEFGHIJ01',
    'SG.0123456789abcdefghij.0123456789abcdefghijABCDEFGHIJ0123456789_-x',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N',
  ];
  it.each(shaped)('redacts %s without knowing it in advance', (token) => {
    expect(redact(`before ${token} after`, [])).toBe('before [redacted] after');
  });

  const encodable = shaped.filter((token) => /^(svc|gh|glpat|sk-|whsec)/.test(token));
  it.each(encodable)('redacts %s in hex and reversed', (token) => {
    for (const hex of [Buffer.from(token).toString('hex'), Buffer.from(token).toString('hex').toUpperCase()])
      expect(redact(`data ${hex}.`, [])).toBe('data [redacted].');
    expect(redact(`data ${Array.from(token).toReversed().join('')}.`, [])).toBe('data [redacted].');
  });

  it.each([
    `svc_${'Ab3dEfGh1jKlM'.repeat(5).slice(0, 61)}`,
    `ghp_${'Ab3dEfGh1jKlM'.repeat(5).slice(0, 36)}`,
    `glpat-${'Ab3dEfGh1jKlM'.repeat(5).slice(0, 20)}`,
  ])('redacts %s split over lines', (token) => {
    for (const lineBreak of ['\n', '\r\n', '\n    ', '\\n']) {
      const split = token.replaceAll(/.{9}(?!$)/g, `$&${lineBreak}`);
      expect(redact(`before ${split} after`, [])).toBe('before [redacted] after');
    }
  });

  it('redacts a token that is split over lines and cut at the end of a text or of its fence', () => {
    const token = `ghp_${'Ab3dEfGh1jKlM'.repeat(5).slice(0, 36)}`;
    for (let length = 14; length < token.length; length += 1) {
      const split = token.slice(0, length).replaceAll(/.{11}(?!$)/g, '$&\n');
      for (const end of ['', '\n```', '…', '\n```\n[note]'])
        expect(redact(`before ${split}${end}`, [])).toBe(`before [redacted]${end}`);
    }
    expect(redact('the table svc_payments', [])).toBe('the table svc_payments');
  });

  it.each(encodable.filter((token) => !token.startsWith('svc_A')))('takes out %s in base64', (token) => {
    for (const prefix of ['', 'x', 'xy', 'x-access-token:']) {
      const encoded = Buffer.from(`${prefix}${token}`).toString('base64');
      expect(redact(`data ${encoded}.`, [])).not.toContain(Buffer.from(token).toString('base64').slice(8, 28));
      expect(redact(`data ${encoded}.`, [])).toContain('[redacted]');
    }
  });

  it('keeps the address and redacts the credential in a URL', () => {
    expect(redact('fatal: https://x-access-token:abc@github.com/a/b.git', [])).toBe(
      'fatal: https://[redacted]@github.com/a/b.git',
    );
  });

  it.each([
    ['postgres://docket:pa55word@db.internal:5432/docket', 'postgres://[redacted]@db.internal:5432/docket'],
    ['GET /a?token=0123456789abcdef&b=1', 'GET /a?token=[redacted]&b=1'],
    ['private-token: 0123456789abcdef0123', 'private-token: [redacted]'],
    [`AWS_SECRET_ACCESS_KEY=${'wJalrXUtn/'.repeat(4)}`, 'AWS_SECRET_ACCESS_KEY=[redacted]'],
    [
      'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXX',
      'https://hooks.slack.com/services/[redacted]',
    ],
  ])('redacts the credential in %s', (text, expected) => {
    expect(redact(text, [])).toBe(expected);
  });

  it('keeps the scheme and redacts the credential in a header', () => {
    expect(redact('authorization: Bearer abc.def-0123', [])).toBe('authorization: Bearer [redacted]');
    expect(redact('authorization: basic eC1hY2Nlc3MtdG9rZW46YWJj', [])).toBe('authorization: basic [redacted]');
  });

  it('redacts a private key, even a truncated one', () => {
    const key = '-----BEGIN OPENSSH PRIVATE KEY-----\nabc\ndef\n';
    expect(redact(`a ${key}-----END OPENSSH PRIVATE KEY----- b`, [])).toBe('a [redacted] b');
    expect(redact(`a ${key}`, [])).toBe('a [redacted]');
  });

  it.each([
    'Send `Authorization: Bearer <ADMIN_API_KEY>` with each request.',
    'Bearer token, basic authentication, svc_ and svc_dsc_ prefixes, sk-learn-like-css-class-names',
    'See https://example.com/@scope/package and mail someone@example.com, git@github.com:a/b.git',
    'const x = a ? b : c; // eyJ is how a JWT begins',
    'Keys look like svc_… or sk-…, tokens like ghp_<token>, glpat-YOUR_TOKEN or npm_<36 characters>.',
    'See svc_account_management_api, gh_pages_branch, skill-based-routing-2024 and task-force-9000-release-notes.',
    `commit ${'0123456789abcdef'.repeat(2)}01234567, sha256 ${'0123456789abcdef'.repeat(4)}`,
    'request 0190a3b2-7c4d-7e5f-8a9b-0c1d2e3f4a5b, etag "33a64df551425fcc55e4d42a148795d9f25fae32"',
    `integrity sha512-${'z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg'}==`,
    'https://example.com/docs?page=2&key=colour&token=YOUR_TOKEN ssh://git@github.com/acme/docs.git',
    'postgres://localhost:5432/docket and redis://cache:6379/0',
    `![logo](data:image/png;base64,${'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk'}AAAA)`,
    'The tool is described under #bearer-tokens, and `Basic setup instructions` follow.',
  ])('leaves ordinary text alone: %s', (text) => {
    expect(redact(text, [secret])).toBe(text);
  });

  it('removes NUL', () => {
    expect(redact('a\0b', [])).toBe('ab');
  });

  it('redacts the rest of a known secret that was truncated at either end', () => {
    const token = '0123456789abcdef0123456789abcdef01234567';
    expect(redact(`x ${token.slice(0, 25)}… y`, [token])).toBe('x [redacted]… y');
    expect(redact(`x …${token.slice(9)} y`, [token])).toBe('x …[redacted] y');
    expect(redact(`x ${token.slice(0, 12)} and ${token.slice(-12)} y`, [token])).toBe('x [redacted] and [redacted] y');
    expect(redact(`x ${token.slice(0, 11)} y`, [token])).toBe(`x ${token.slice(0, 11)} y`);
  });

  it('keeps a line of JSON valid', () => {
    const pieces = fc.constantFrom(
      ...shaped,
      secret,
      '"',
      '\\',
      '\n',
      'x?token=abcdefgh12345',
      'x-api-key: abcdefgh12345',
      'Bearer abcdefgh12345',
      'https://u:p@a.example/',
      '-----BEGIN PRIVATE KEY-----\nabc',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), fc.constantFrom('', ' '), (words, gap) => {
        const line = redact(`${JSON.stringify({ msg: words.join(gap), level: 30 })}\n`, [secret]);
        expect(JSON.parse(line)).toMatchObject({ level: 30 });
        expect(line.endsWith('\n')).toBe(true);
      }),
      { numRuns: propertyRuns(3_000) },
    );
  });

  it('takes linear time on a hostile text', () => {
    const hostile = [
      'eyJ-',
      'a.',
      'https://',
      '-----BEGIN PRIVATE KEY-----',
      '?token=1',
      'sk-',
      'svc_\n',
      'x-api-key: ',
    ];
    for (const piece of hostile) {
      const text = piece.repeat(400_000 / piece.length);
      // quadratic behavior would exceed the time limit of the test
      expect(redact(text, [secret]).length).toBeGreaterThan(0);
    }
  });

  it('ignores secrets too short to be distinguished from words', () => {
    expect(redact('a b c', ['', 'b'])).toBe('a b c');
  });

  it('redacts a known secret wherever it appears and however it is encoded', () => {
    const encodings: ((text: string) => string)[] = [
      (text) => text,
      (text) => encodeURIComponent(text),
      (text) => JSON.stringify(text),
      (text) => Buffer.from(text).toString('base64'),
      (text) => Buffer.from(text).toString('base64url'),
      (text) => Buffer.from(text).toString('hex'),
      (text) => Buffer.from(text).toString('hex').toUpperCase(),
      (text) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&'),
      (text) => encodeURIComponent(text).replaceAll(/%../g, (code) => code.toLowerCase()),
      (text) =>
        Buffer.from(text)
          .toString('base64')
          .replace(/(.{5})/g, '$1\n'),
      (text) => Array.from(text).join('\r\n'),
      (text) => text.replaceAll(/.{4}/gsu, '$&\n   12|'),
      (text) => text.replaceAll(/.{4}/gsu, '$&   \nremote: '),
      (text) => Array.from(text).toReversed().join(''),
    ];
    const scrub = createRedactor([secret]);
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.constantFrom(...encodings), (before, after, encode) => {
        const text = encode(`${before}${secret}${after}`);
        const output = scrub(text).replace(/\s+(?:12\||remote: )|\s/g, '');
        return (
          output.includes('[redacted]') && !output.includes(encode(secret).replace(/\s+(?:12\||remote: )|\s/g, ''))
        );
      }),
      { numRuns: propertyRuns(500) },
    );
  });
});
