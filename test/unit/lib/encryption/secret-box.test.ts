import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SealedError } from '../../../../lib/encryption/cipher.ts';
import { parseEncryptionKeys } from '../../../../lib/encryption/keys.ts';
import { createSecretBox, sealingKeyOf } from '../../../../lib/encryption/secret-box.ts';
import { anyCharacter, fc } from '../../../support/properties.ts';

const k1 = `k1:${randomBytes(32).toString('base64')}`;
const k2 = `k2:${randomBytes(32).toString('base64')}`;
const boxOf = (...keys: string[]) => createSecretBox(parseEncryptionKeys(keys.join(',')));
const owner = 'project-credential/prj_1';

describe('a secret box', () => {
  it('decrypts every text that it encrypted', () => {
    const box = boxOf(k1);
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(box.open(box.seal(text, owner), owner)).toBe(text);
      }),
    );
  });

  it('names the key and reveals nothing of the value, which never looks the same twice', () => {
    const box = boxOf(k1);
    const sealed = box.seal('ghp_secret', owner);
    expect(sealed).toMatch(/^enc:v1:k1:[\w-]{51}$/);
    expect(box.seal('ghp_secret', owner)).not.toBe(sealed);
    expect(sealingKeyOf(sealed)).toBe('k1');
  });

  it('encrypts under the first key and decrypts with any', () => {
    const old = boxOf(k1).seal('text', owner);
    const box = boxOf(k2, k1);
    expect(box.open(old, owner)).toBe('text');
    expect(sealingKeyOf(box.seal('text', owner))).toBe('k2');
  });

  it('names the missing key', () => {
    const sealed = boxOf(k1).seal('text', owner);
    expect(() => boxOf(k2).open(sealed, owner)).toThrow(
      new SealedError('The encryption key k1 is missing. Add it to DOCKET_ENCRYPTION_KEYS.'),
    );
    expect(() => boxOf().open(sealed, owner)).toThrow('The encryption key k1 is missing');
  });

  it('names a key whose value has changed', () => {
    const sealed = boxOf(k1).seal('text', owner);
    const other = `k1:${randomBytes(32).toString('base64')}`;
    expect(() => boxOf(other).open(sealed, owner)).toThrow(/encrypted with the key k1 cannot be decrypted/);
  });

  it('refuses a value that was changed, truncated, renamed or copied from another owner', () => {
    const box = boxOf(k1, k2.replace('k2', 'k3'));
    const sealed = box.seal('text', owner);
    const changed = `${sealed.slice(0, -3)}${sealed.endsWith('AAA') ? 'BBB' : 'AAA'}`;
    for (const bad of [changed, sealed.slice(0, -8), 'enc:v1:k1:', sealed.replace(':k1:', ':k3:')]) {
      expect(() => box.open(bad, owner)).toThrow(SealedError);
    }
    expect(() => box.open(sealed, 'project-credential/prj_2')).toThrow(SealedError);
    expect(() => box.open(sealed, 'webhook-secret/prj_1')).toThrow(SealedError);
  });

  it('returns values stored before encryption was turned on as they are, and stores such without keys', () => {
    expect(boxOf(k1).open('ghp_plain', owner)).toBe('ghp_plain');
    expect(boxOf().seal('ghp_plain', owner)).toBe('ghp_plain');
    expect(boxOf().keyId).toBeNull();
    expect(sealingKeyOf('ghp_plain')).toBeNull();
  });
});
