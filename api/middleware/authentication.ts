import type { IncomingMessage } from 'node:http';
import { tooManyRequests, unauthorized, wrongKeyKind } from '../errors.ts';
import type { FailedAttempts } from '../failed-attempts.ts';

/** Who a request acts for. */
export interface ApiKey {
  id: string;
  organizationId: string;
  kind: 'admin' | 'assistant';
}

export type Authenticate = (request: IncomingMessage, kind: ApiKey['kind']) => Promise<ApiKey>;

export interface AuthenticationDeps {
  verifier: { verify(text: string): Promise<ApiKey | null>; hasSeen(text: string): boolean };
  failures: FailedAttempts;
  addressOf: (request: IncomingMessage) => string;
  /** Told of a secret key that came with an Origin header: it has been published in a page. */
  onExposedKey?: (keyId: string) => void;
}

const longestHeader = 200;

/** Answers the key of a request. Throws 401 without a valid key, 403 for the wrong kind, 429 after too many wrong ones. */
export function createAuthentication({
  verifier,
  failures,
  addressOf,
  onExposedKey,
}: AuthenticationDeps): Authenticate {
  async function refuse(request: IncomingMessage): Promise<never> {
    const waitSeconds = await failures.count(addressOf(request));
    if (waitSeconds > 0) throw tooManyRequests(waitSeconds);
    throw unauthorized('The API key is unknown, expired or revoked.');
  }

  return async function authenticate(request, kind) {
    const header = request.headers.authorization;
    if (header === undefined) throw unauthorized('An API key is needed: Authorization: Bearer <key>.');
    const blockedSeconds = failures.blockedSeconds(addressOf(request));
    const text = /^bearer +([^\s]+) *$/i.exec(header)?.[1];
    // who shares the address of a guesser goes on working with a key that is known to be good
    if (blockedSeconds > 0 && (text === undefined || !verifier.hasSeen(text))) throw tooManyRequests(blockedSeconds);
    if (text === undefined || header.length > longestHeader || hasSeveral(request)) return refuse(request);
    const key = await verifier.verify(text);
    if (key === null) return refuse(request);
    if (key.kind === 'admin' && request.headers.origin !== undefined) onExposedKey?.(key.id);
    if (key.kind !== kind) throw wrongKeyKind(kind);
    return key;
  };
}

/** Node keeps the first of several Authorization headers; a proxy may have looked at another one. */
function hasSeveral({ rawHeaders }: IncomingMessage): boolean {
  let count = 0;
  for (let position = 0; position < rawHeaders.length; position += 2) {
    const name = rawHeaders[position];
    if (name?.length === 13 && name.toLowerCase() === 'authorization') count += 1;
  }
  return count > 1;
}
