import { createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

export interface EncryptionKey {
  /** Stands in the open beside everything sealed under the key. */
  id: string;
  secret: KeyObject;
}

/** A list of keys that cannot be read; the sentence quotes no key. */
export class EncryptionKeysError extends Error {
  override name = 'EncryptionKeysError';
}

const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/;
const secretPattern = /^[A-Za-z0-9+/_-]{43}=?$/;
const secretBytes = 32;

/**
 * Reads `DOCKET_ENCRYPTION_KEYS`: `id:base64 of 32 bytes`, comma separated. The first key seals, all of them open; no key at
 * all means that nothing is sealed. Throws EncryptionKeysError with a sentence that begins in its middle, as config errors do.
 */
export function parseEncryptionKeys(text: string): EncryptionKey[] {
  const entries = text.split(',').map((entry) => entry.trim());
  const keys = entries.filter((entry) => entry !== '').map(parseEntry);
  const repeated = keys.find(({ id }, at) => keys.findIndex((other) => other.id === id) !== at);
  if (repeated !== undefined) throw new EncryptionKeysError(`names the key ${repeated.id} twice`);
  return keys;
}

function parseEntry(entry: string, at: number): EncryptionKey {
  const end = entry.indexOf(':');
  const [id, secret] = [entry.slice(0, Math.max(0, end)), entry.slice(end + 1)];
  const bytes = Buffer.from(secret, 'base64');
  if (idPattern.test(id) && secretPattern.test(secret) && bytes.length === secretBytes) {
    return { id, secret: createSecretKey(bytes) };
  }
  throw new EncryptionKeysError(
    `is wrong at entry ${at + 1}: write <id>:<base64 of 32 bytes>, the base64 from "openssl rand -base64 32"`,
  );
}
