import type { IncomingMessage } from 'node:http';
import { tooManyRequests, unauthorized } from '../http/errors.ts';
import type { FailedAttempts } from './failed-attempts.ts';
import type { ApiCaller } from './api-caller.ts';
import { rulesOf, type KeyRow, type KeyRules } from '../../db/organizations/keys.ts';

/**
 * Returns the caller of a valid key; null stands for text that cannot be a key. Throws 401 for an invalid key, and 429
 * after too many invalid ones.
 */
export type VerifyKey = (request: IncomingMessage, text: string | null) => Promise<ApiCaller>;

export interface VerifyKeyDeps {
  verifier: {
    verify(text: string): Promise<Pick<KeyRow, 'id' | 'organizationId' | 'kind' | 'role' | keyof KeyRules> | null>;
  };
  failures: FailedAttempts;
  addressOf: (request: IncomingMessage) => string;
}

export function createVerifyKey({ verifier, failures, addressOf }: VerifyKeyDeps): VerifyKey {
  return async function verifyKey(request, text) {
    const key = text === null ? null : await verifier.verify(text);
    if (key !== null) {
      const { organizationId, id: keyId, kind, role } = key;
      return { organizationId, keyId, sessionId: null, kind, role, rules: rulesOf(key) };
    }
    // block only invalid keys, because others may share the address of a client that guesses keys
    const address = addressOf(request);
    const waitSeconds = failures.blockedSeconds(address) || (await failures.count(address));
    if (waitSeconds > 0) throw tooManyRequests(waitSeconds);
    throw unauthorized('The API key is unknown, expired or revoked.');
  };
}
