import { createHmac } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { randomText } from '../random-text.ts';

export interface ParsedKey {
  kind: 'admin' | 'assistant';
  id: string;
  secret: string;
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const idLength = 12;
/** 43 characters of base62 are 256 bits. */
const secretLength = 43;
const checksumLength = 6;

const prefixes = { admin: 'svc_', assistant: 'svc_dsc_' } as const;

// `svc_dsc_` starts with `svc_`, but `_` is not base62, so no text matches both
const patterns = {
  admin: /^svc_([0-9A-Za-z]{12})([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/,
  assistant: /^svc_dsc_([0-9A-Za-z]{12})([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/,
} as const;

/** Creates a key. The full text is shown once, and only the digest of its secret is stored. */
export function createKeyText(kind: ParsedKey['kind']): { key: string; id: string; secret: string } {
  const id = randomText(base62, idLength);
  const secret = randomText(base62, secretLength);
  const body = prefixes[kind] + id + secret;
  return { key: body + checksumOf(body), id, secret };
}

/** Returns the parts of a key; null for other texts. The kind is what the key claims, and the stored row decides. */
export function parseKey(text: string): ParsedKey | null {
  return parseAs('assistant', text) ?? parseAs('admin', text);
}

/** Returns the id in a key; for any other text, a value that is no key's id and does not reveal the text. */
export function idWithin(text: string): string {
  const start = text.startsWith(prefixes.assistant) ? prefixes.assistant.length : prefixes.admin.length;
  return text.slice(start, start + idLength);
}

/** Returns the stored form of a secret: 32 bytes, useless without the installation's pepper. */
export function digestOf(pepper: string, secret: string): Buffer {
  return createHmac('sha256', pepper).update(secret).digest();
}

function parseAs(kind: ParsedKey['kind'], text: string): ParsedKey | null {
  const [, id, secret, checksum] = patterns[kind].exec(text) ?? [];
  if (id === undefined || secret === undefined) return null;
  return checksumOf(text.slice(0, -checksumLength)) === checksum ? { kind, id, secret } : null;
}

function checksumOf(body: string): string {
  let rest = crc32(body);
  let text = '';
  while (text.length < checksumLength) {
    text = base62.charAt(rest % base62.length) + text;
    rest = Math.floor(rest / base62.length);
  }
  return text;
}
