import { createHash } from 'node:crypto';
import { invalidRequest } from './errors.ts';

const printable = /^[\x20-\x7e]{1,255}$/;

/** The header's value, null without one. Throws ApiError for one that no client means. */
export function idempotencyKeyOf(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header !== 'string' || !printable.test(header) || header.trim() === '') {
    throw invalidRequest('The Idempotency-Key must have 1 to 255 printable ASCII characters.');
  }
  return header;
}

/** Equal for requests that ask for the same. */
export function hashOfRequest(fields: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}
