import { createHash } from 'node:crypto';
import { z } from 'zod';

/** Returns the schema of the Idempotency-Key header. `description` explains the effect of repeating a request. */
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

/** Returns a hash that is equal for equal requests. */
export function hashOfRequest(fields: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}
