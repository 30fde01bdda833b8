import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { signWebhook } from '../../../../activities/webhooks/webhook-signature.ts';
import { newWebhookSecret, webhookKeyOf } from '../../../../db/webhooks/webhook-secret.ts';

describe('signWebhook', () => {
  it('matches the example of the specification', () => {
    const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: '{"test": 2432232314}' };
    expect(signWebhook(message, ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    );
  });

  it('signs once per secret, and the official library accepts either', () => {
    const secrets = [newWebhookSecret(), newWebhookSecret()];
    const message = { id: 'msg_1', timestamp: Math.floor(Date.now() / 1000), body: '{"a":"ü"}' };
    const headers = {
      'webhook-id': message.id,
      'webhook-timestamp': String(message.timestamp),
      'webhook-signature': signWebhook(message, secrets),
    };
    for (const secret of secrets) expect(new Webhook(secret).verify(message.body, headers)).toEqual({ a: 'ü' });
    expect(() => new Webhook(newWebhookSecret()).verify(message.body, headers)).toThrow('No matching signature');
  });
});

describe('webhookKeyOf', () => {
  const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`;

  it('accepts 24 to 64 bytes', () => {
    expect([23, 24, 64, 65].map((bytes) => webhookKeyOf(secretOf(bytes))?.length ?? null)).toEqual([
      null,
      24,
      64,
      null,
    ]);
  });

  it.each(['', 'whsec_', `whsec_${'*'.repeat(40)}`, Buffer.alloc(32).toString('base64'), `${newWebhookSecret()} `])(
    'refuses %j',
    (text) => expect(webhookKeyOf(text)).toBeNull(),
  );

  it('accepts what newWebhookSecret creates, which is new each time', () => {
    expect(webhookKeyOf(newWebhookSecret())).toHaveLength(32);
    expect(newWebhookSecret()).not.toBe(newWebhookSecret());
  });
});
