import type { IncomingMessage } from 'node:http';
import type { SessionLookup } from '../../db/for-service/session-lookup.ts';
import type { Callers } from '../http/define-route.ts';
import { hasSeveral } from '../http/repeated-header.ts';
import { foreignPage, unauthorized, wrongKeyKind, type ApiError } from '../http/errors.ts';
import type { SessionCookie } from './session-cookie.ts';
import type { VerifyKey } from './verify-key.ts';
import type { ApiCaller } from './api-caller.ts';

/**
 * Returns the caller of a request: the key in its Authorization header, or else the session in its cookie, which counts
 * as a key of either kind. Throws 401 without a valid one, 403 for the wrong kind of key or a cross-site request, and
 * 429 after too many wrong keys.
 */
export type Authenticate = (request: IncomingMessage, kind: ApiCaller['kind']) => Promise<ApiCaller>;

export interface AuthenticationDeps {
  verifyKey: VerifyKey;
  sessions: Pick<SessionLookup, 'find'>;
  cookie: SessionCookie;
  /** Called for an admin key that arrives with an Origin header, which means that it has been exposed in a page. */
  onExposedKey?: (keyId: string) => void;
}

const maxHeaderLength = 200;
const safeMethods = ['GET', 'HEAD', 'OPTIONS'];

export function createAuthentication({ verifyKey, sessions, cookie, onExposedKey }: AuthenticationDeps) {
  /** Returns the session in the cookie, ignoring keys; null without a valid one. */
  async function bySession(request: IncomingMessage, kind: ApiCaller['kind']): Promise<Callers['session'] | null> {
    const [current] = cookie.read(request);
    const session = current === undefined ? null : await sessions.find(current);
    if (session === null) return null;
    // another site can make a browser send the cookie, but cannot make it claim that the request comes from our page
    if (!safeMethods.includes(request.method ?? '') && !cookie.isFromOurPage(request)) throw foreignPage();
    const { id: sessionId, keyId, organizationId, expiresAt, person, role } = session;
    return { keyId, organizationId, kind, role, sessionId, expiresAt, person };
  }

  const byKeyOrSession: Authenticate = async (request, kind) => {
    const header = request.headers.authorization;
    if (header === undefined) {
      const signedIn = await bySession(request, kind);
      if (signedIn === null) throw noKey();
      return signedIn;
    }
    const [, text] = /^bearer +([^ ].*)$/is.exec(header) ?? [];
    if (text === undefined) throw noKey();
    const isOne = header.length <= maxHeaderLength && !hasSeveral(request, 'authorization');
    const caller = await verifyKey(request, isOne ? text : null);
    if (caller.kind === 'admin' && request.headers.origin !== undefined) onExposedKey?.(caller.keyId);
    if (caller.kind !== kind) throw wrongKeyKind(kind);
    return caller;
  };

  return { byKeyOrSession, bySession };
}

function noKey(): ApiError {
  return unauthorized('This request requires an API key: Authorization: Bearer <key>.');
}
