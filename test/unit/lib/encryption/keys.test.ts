import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseEncryptionKeys } from '../../../../lib/encryption/keys.ts';

const secret = randomBytes(32).toString('base64');

describe('the list of encryption keys', () => {
  it('may be empty', () => {
    expect(parseEncryptionKeys('')).toEqual([]);
    expect(parseEncryptionKeys(' , ')).toEqual([]);
  });

  it('keeps the order, and accepts blanks and both base64 alphabets', () => {
    const other = randomBytes(32).toString('base64url');
    expect(parseEncryptionKeys(`k2:${other}, k1:${secret}`).map(({ id }) => id)).toEqual(['k2', 'k1']);
  });

  it.each([
    ['no-colon', 1],
    [`:${secret}`, 1],
    [`with blank:${secret}`, 1],
    [`k1:${secret},k2:${randomBytes(31).toString('base64')}`, 2],
    [`k1:${secret},k2:${randomBytes(33).toString('base64')}`, 2],
    [`k1:${secret},k2:${'='.repeat(44)}`, 2],
  ])('refuses %s and names the entry, not the key', (text, entry) => {
    expect(() => parseEncryptionKeys(text)).toThrow(`is wrong at entry ${entry}: write <id>:<base64 of 32 bytes>`);
    expect(() => parseEncryptionKeys(text)).not.toThrow(secret);
  });

  it('refuses one id for two keys', () => {
    expect(() => parseEncryptionKeys(`k1:${secret},k1:${secret}`)).toThrow('names the key k1 twice');
  });

  it('reveals nothing of a key when it is printed', () => {
    expect(JSON.stringify(parseEncryptionKeys(`k1:${secret}`))).toBe('[{"id":"k1","secret":{}}]');
  });
});
