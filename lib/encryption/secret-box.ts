import { createCipher } from './cipher.ts';
import type { EncryptionKey } from './keys.ts';

const headPattern = /^enc:v1:([A-Za-z0-9._-]{1,32}):/;

export type SecretBox = ReturnType<typeof createSecretBox>;

/** Seals values before they are stored. Without keys, values are stored as they are. */
export function createSecretBox(keys: readonly EncryptionKey[]) {
  const cipher = createCipher(keys);
  return {
    /** Id of the key that seals; null if nothing is sealed. */
    keyId: cipher.keyId,
    /**
     * Returns `enc:v1:<key id>:<base64url>`. `owner` states what the value is and whose, such as
     * `project-credential/prj_…`. The sealed text opens for that owner only, so that a row copied over another one is
     * rejected.
     */
    seal(text: string, owner: string): string {
      const sealed = cipher.seal(Buffer.from(text), owner);
      return sealed === null ? text : `enc:v1:${sealed.keyId}:${sealed.bytes.toString('base64url')}`;
    },
    /** Returns the value; one stored before encryption was turned on is returned unchanged. Throws SealedError. */
    open(stored: string, owner: string): string {
      const head = headPattern.exec(stored);
      if (head === null) return stored;
      const [{ length }, keyId = ''] = head;
      return cipher.open({ keyId, bytes: Buffer.from(stored.slice(length), 'base64url') }, owner).toString();
    },
  };
}

/** Returns the id of the key that a stored value is sealed under, or null if it is not sealed. */
export function sealingKeyOf(stored: string): string | null {
  return headPattern.exec(stored)?.[1] ?? null;
}
