import { createHash } from 'node:crypto';
import { z } from 'zod';

/** The header of requests that may be repeated; `description` says what a repetition does. */
export function idempotencyKey(description: string) {
  return z
    .string()
    .refine(
      (text) => /^[\x20-\x7e]{1,255}$/.test(text) && text.trim() !== '',
      'must have 1 to 255 printable ASCII characters',
    )
    .optional()
    .meta({ minLength: 1, maxLength: 255, description });
}

/** Equal for requests that ask for the same. */
export function hashOfRequest(fields: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}
