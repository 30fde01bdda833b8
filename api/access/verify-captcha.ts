import { z } from 'zod';
import type { Captcha } from '../../db/organizations/keys.ts';
import { createEgress } from '../../lib/network/egress.ts';
import { captchaUnavailable } from './errors.ts';

/** Asks the provider whether a reader has solved a CAPTCHA. Throws ApiError (503) when it cannot be asked. */
export type VerifyCaptcha = (solved: { provider: Captcha; secret: string; response: string }) => Promise<boolean>;

const verifyUrls: Record<Captcha, string> = {
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  hcaptcha: 'https://api.hcaptcha.com/siteverify',
};
const maxWaitMs = 10_000;
const verdictSchema = z.object({ success: z.boolean() });

/** @param verifyUrl where to ask instead of at the providers; its host may have a private address */
export function createCaptchaVerifier({
  verifyUrl,
  onFailure,
}: {
  verifyUrl: string | null;
  onFailure(error: unknown): void;
}): VerifyCaptcha {
  const egress = createEgress({ privateHosts: verifyUrl === null ? [] : [new URL(verifyUrl).host] });
  return async ({ provider, secret, response }) => {
    try {
      const answer = await egress.fetch(verifyUrl ?? verifyUrls[provider], {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ secret, response }).toString(),
        signal: AbortSignal.timeout(maxWaitMs),
      });
      return verdictSchema.parse(await answer.json()).success;
    } catch (error) {
      onFailure(error);
      throw captchaUnavailable();
    }
  };
}
