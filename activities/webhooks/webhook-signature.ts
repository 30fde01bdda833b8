import { createHmac } from 'node:crypto';
import { webhookKeyOf } from '../../db/webhooks/webhook-secret.ts';

export interface SignedMessage {
  id: string;
  /** Seconds since the Unix epoch. */
  timestamp: number;
  body: string;
}

/**
 * Returns the `webhook-signature` value of the Standard Webhooks specification. It has one signature per secret, so a
 * receiver that knows any of them accepts the message.
 */
export function signWebhook({ id, timestamp, body }: SignedMessage, secrets: readonly string[]): string {
  return secrets.map((secret) => `v1,${digestOf(`${id}.${timestamp}.${body}`, secret)}`).join(' ');
}

function digestOf(content: string, secret: string): string {
  const key = webhookKeyOf(secret);
  if (key === null) throw new TypeError('A stored webhook secret is malformed.');
  return createHmac('sha256', key).update(content).digest('base64');
}
