import type { IncomingMessage } from 'node:http';
import type { AppContext } from '../http/app-context.ts';
import { ApiError } from '../http/errors.ts';
import type { ApiCaller } from './api-caller.ts';
import type { KeyUses } from './key-uses.ts';
import type { EnforceRateLimit } from './rate-limit.ts';

export interface ReaderLimitDeps {
  enforceRateLimit: EnforceRateLimit;
  addressOf: (request: IncomingMessage) => string;
  keyUses: Pick<KeyUses, 'note'>;
  limits: { assistantPerHour: number; assistantPerIpPerDay: number };
}

/** Requests with one solved challenge, which is valid for half an hour. */
const requestsPerProof = 200;

/**
 * Creates the check that counts an assistant-key request against the limits of its organization, its address and its
 * proof of work.
 */
export function createReaderLimit({ enforceRateLimit, addressOf, keyUses, limits }: ReaderLimitDeps) {
  const perAddress = { name: 'ip', limit: limits.assistantPerIpPerDay, windowSeconds: 86_400 };
  const perProof = { name: 'proof', limit: requestsPerProof, windowSeconds: 3_600 };
  const perOrganization = { name: 'org', limit: limits.assistantPerHour, windowSeconds: 3_600 };

  return async function limitReader(
    ctx: AppContext,
    { keyId, organizationId }: ApiCaller,
    proofId: string | null,
  ): Promise<void> {
    try {
      await enforceRateLimit(ctx, [
        { key: `assistant-ip:${addressOf(ctx.req)}`, policy: perAddress },
        { key: `assistant-org:${organizationId}`, policy: perOrganization },
        ...(proofId === null ? [] : [{ key: `assistant-proof:${proofId}`, policy: perProof }]),
      ]);
      keyUses.note(keyId, false);
    } catch (error) {
      if (error instanceof ApiError && error.status === 429) keyUses.note(keyId, true);
      throw error;
    }
  };
}
