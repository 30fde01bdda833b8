import { randomBytes } from 'node:crypto';

const prefix = 'whsec_';
const minBytes = 24;
const maxBytes = 64;

/** Creates a secret by the Standard Webhooks specification: `whsec_` and 32 random bytes in base64. */
export function newWebhookSecret(): string {
  return prefix + randomBytes(32).toString('base64');
}

/** Returns the signing key; null for a text that is not a secret of 24 to 64 bytes. */
export function webhookKeyOf(secret: string): Buffer | null {
  if (!secret.startsWith(prefix)) return null;
  const text = secret.slice(prefix.length);
  const key = Buffer.from(text, 'base64');
  // Buffer.from accepts anything, so only text that it would write itself is base64
  return key.toString('base64') === text && key.length >= minBytes && key.length <= maxBytes ? key : null;
}
