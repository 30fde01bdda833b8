import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { sessionSeconds } from '../../db/organizations/sessions.ts';

export interface SessionCookie {
  /** The Set-Cookie field that signs in. */
  set(sessionId: string): string;
  /** The Set-Cookie field that signs out. */
  clear(): string;
  /** The session that a request names under our signature; null: none. */
  read(request: IncomingMessage): string | null;
  /** Whether a browser says that a page of ours made the request. */
  isFromOurPage(request: IncomingMessage): boolean;
}

/** The cookie of the dashboard: a session's id, signed under the pepper, out of reach of scripts and of other sites. */
export function createSessionCookie({ pepper, baseUrl }: { pepper: string; baseUrl: string }): SessionCookie {
  const isSecure = baseUrl.startsWith('https:');
  // the prefix makes browsers refuse one that another host or a connection without TLS has set
  const name = isSecure ? '__Host-docket' : 'docket_session';
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  const ourOrigin = new URL(baseUrl).origin;

  function signatureOf(sessionId: string): Buffer {
    return createHmac('sha256', pepper).update(`session ${sessionId}`).digest();
  }

  return {
    set: (sessionId) =>
      `${name}=${sessionId}.${signatureOf(sessionId).toString('base64url')}; Max-Age=${sessionSeconds}; ${attributes}`,
    clear: () => `${name}=; Max-Age=0; ${attributes}`,

    read({ headers }) {
      const value = (headers.cookie ?? '')
        .split(';')
        .map((pair) => pair.trim())
        .find((pair) => pair.startsWith(`${name}=`))
        ?.slice(name.length + 1);
      const [, sessionId, signature] = /^([\w-]{1,64})\.([\w-]{43})$/.exec(value ?? '') ?? [];
      if (sessionId === undefined || signature === undefined) return null;
      return timingSafeEqual(Buffer.from(signature, 'base64url'), signatureOf(sessionId)) ? sessionId : null;
    },

    isFromOurPage({ headers }) {
      const site = headers['sec-fetch-site'];
      if (site !== undefined) return site === 'same-origin';
      const { origin, host } = headers;
      if (origin === undefined || !URL.canParse(origin)) return false;
      return origin === ourOrigin || new URL(origin).host === host;
    },
  };
}
