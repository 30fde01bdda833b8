import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { EncryptionKey } from './keys.ts';

/** A sealed value cannot be opened with the available keys; the message names the key. */
export class SealedError extends Error {
  override name = 'SealedError';
}

interface Sealed {
  keyId: string;
  /** Nonce, ciphertext and tag. */
  bytes: Buffer;
}

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** AES-256-GCM with a list of keys: the first seals, and each opens the values sealed under it. */
export function createCipher(keys: readonly EncryptionKey[]) {
  const [first = null] = keys;
  const byId = new Map(keys.map((key) => [key.id, key.secret]));
  return {
    /** Id of the key that encrypts; null if there is none. `seal` then returns null. */
    keyId: first?.id ?? null,
    /** `owner` states what the value is and whose; the value opens only with the same `owner`. */
    seal(plain: Uint8Array, owner: string): Sealed | null {
      if (first === null) return null;
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, first.secret, nonce, { authTagLength: tagBytes });
      cipher.setAAD(associated(first.id, owner));
      const bytes = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
      return { keyId: first.id, bytes };
    },
    /** Throws SealedError. */
    open({ keyId, bytes }: { keyId: string; bytes: Uint8Array }, owner: string): Buffer {
      const secret = byId.get(keyId);
      if (secret === undefined) {
        throw new SealedError(`The encryption key ${keyId} is missing. Add it to DOCKET_ENCRYPTION_KEYS.`);
      }
      try {
        const nonce = bytes.subarray(0, nonceBytes);
        const decipher = createDecipheriv(algorithm, secret, nonce, { authTagLength: tagBytes });
        decipher.setAAD(associated(keyId, owner));
        decipher.setAuthTag(bytes.subarray(-tagBytes));
        return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()]);
      } catch (cause) {
        throw new SealedError(
          `A value encrypted with the key ${keyId} cannot be decrypted: the key or the value has changed since.`,
          { cause },
        );
      }
    },
  };
}

function associated(keyId: string, owner: string): Buffer {
  return Buffer.from(`docket:v1:${keyId}:${owner}`);
}
