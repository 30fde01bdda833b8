import { expect, it } from 'vitest';
import { createKeyText, digestOf, parseKey } from '../../../../db/organizations/key-format.ts';
import { fc } from '../../../support/properties.ts';

const kinds = fc.constantFrom('admin' as const, 'assistant' as const);
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.split('');

it('parses every key it creates back into its kind, id and secret', () => {
  fc.assert(
    fc.property(kinds, (kind) => {
      const { key, id, secret } = createKeyText(kind);
      expect(parseKey(key)).toEqual({ kind, id, secret });
      expect(key).toMatch(kind === 'admin' ? /^svc_[0-9A-Za-z]{61}$/ : /^svc_dsc_[0-9A-Za-z]{61}$/);
    }),
  );
});

it('never confuses a public assistant key with an admin key', () => {
  const assistant = createKeyText('assistant').key;
  const admin = createKeyText('admin').key;
  expect(assistant.startsWith('svc_')).toBe(true);
  expect(parseKey(assistant)?.kind).toBe('assistant');
  // the same body under the other prefix has the wrong checksum
  expect(parseKey(assistant.replace('svc_dsc_', 'svc_'))).toBeNull();
  expect(parseKey(admin.replace('svc_', 'svc_dsc_'))).toBeNull();
});

it('refuses a key with any single character changed', () => {
  fc.assert(
    fc.property(kinds, fc.nat(), fc.constantFrom(...base62), (kind, place, character) => {
      const { key } = createKeyText(kind);
      const at = key.lastIndexOf('_') + 1 + (place % 61);
      fc.pre(key[at] !== character);
      expect(parseKey(key.slice(0, at) + character + key.slice(at + 1))).toBeNull();
    }),
  );
});

it('refuses a key with anything before, after or inside it', () => {
  const { key } = createKeyText('admin');
  for (const text of [
    ` ${key}`,
    `${key} `,
    `${key}\n`,
    `x${key}`,
    `${key}0`,
    key.slice(0, -1),
    key.toUpperCase(),
    '',
  ]) {
    expect(parseKey(text)).toBeNull();
  }
  fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => parseKey(text) === null));
});

it('creates a digest of 32 bytes that depends on the pepper', () => {
  expect(digestOf('pepper', 'secret')).toHaveLength(32);
  expect(digestOf('pepper', 'secret')).toEqual(digestOf('pepper', 'secret'));
  expect(digestOf('pepper', 'secret')).not.toEqual(digestOf('other', 'secret'));
});
