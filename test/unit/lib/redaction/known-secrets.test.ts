import { expect, it } from 'vitest';
import { createKnownSecrets, maskDeep } from '../../../../lib/redaction/known-secrets.ts';

const secret = 'tok+en/with=signs';
const { mask } = createKnownSecrets([secret, 'ab']);

it('masks the worker’s secrets, plain and encoded', () => {
  const text = `${secret} ${encodeURIComponent(secret)} ${Buffer.from(secret).toString('base64')}`;
  expect(mask(text)).toBe('[redacted] [redacted] [redacted]');
});

it('leaves what only looks like a credential, so that files keep it', () => {
  const text = 'curl -H "Authorization: Bearer svc_0123456789abcdefghij" # ab';
  expect(mask(text)).toBe(text);
});

it('covers every string in a value', () => {
  const value = { path: 'a', edits: [{ old: secret, count: 1, note: null }] };
  expect(maskDeep(value, mask)).toEqual({ path: 'a', edits: [{ old: '[redacted]', count: 1, note: null }] });
});

it('redacts secrets that it learns later, wherever it was already in use', () => {
  const secrets = createKnownSecrets(['first-secret']);
  const { redact, mask: maskKnown } = secrets;
  expect(redact('first-secret second-secret')).toBe('[redacted] second-secret');
  secrets.add('second-secret');
  secrets.add('second-secret');
  expect(redact('first-secret second-secret')).toBe('[redacted] [redacted]');
  expect(maskKnown('second-secret')).toBe('[redacted]');
  expect(secrets.here().values).toEqual(['first-secret', 'second-secret']);
});
