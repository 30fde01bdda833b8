import { createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

export interface EncryptionKey {
  /** Stored in plain text beside each value that the key encrypts. */
  id: string;
  secret: KeyObject;
}

/** The list of keys cannot be parsed; the message quotes no key. */
export class EncryptionKeysError extends Error {
  override name = 'EncryptionKeysError';
}

const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/;
const secretPattern = /^[A-Za-z0-9+/_-]{43}=?$/;
const secretBytes = 32;

/**
 * Parses `DOCKET_ENCRYPTION_KEYS`: comma-separated `id:base64 of 32 bytes`. The first key encrypts and all of them decrypt; with no keys, nothing is encrypted. Throws EncryptionKeysError, whose message continues a sentence, as config errors do.
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
