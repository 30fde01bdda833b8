import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { sessionSeconds } from '../../db/organizations/sessions.ts';

/** Organizations that a browser can be signed in to at once. */
export const maxSessions = 8;

export type SessionCookie = ReturnType<typeof createSessionCookie>;

/** Creates the dashboard's cookie: session ids signed with the pepper, inaccessible to scripts and other sites. */
export function createSessionCookie({ pepper, baseUrl }: { pepper: string; baseUrl: string }) {
  const isSecure = baseUrl.startsWith('https:');
  // the prefix makes browsers reject a cookie set by another host or over a connection without TLS
  const name = isSecure ? '__Host-docket' : 'docket_session';
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  const ourOrigin = new URL(baseUrl).origin;

  function signatureOf(sessionId: string): Buffer {
    return createHmac('sha256', pepper).update(`session ${sessionId}`).digest();
  }

  return {
    /** Returns the Set-Cookie field that signs in: the current session, then those of other organizations. */
    set(sessionIds: string[]): string {
      const signed = sessionIds.slice(0, maxSessions).map((id) => `${id}.${signatureOf(id).toString('base64url')}`);
      return `${name}=${signed.join('~')}; Max-Age=${sessionSeconds}; ${attributes}`;
    },
    /** Returns the Set-Cookie field that signs out. */
    clear: (): string => `${name}=; Max-Age=0; ${attributes}`,

    /** Returns the ids of a request's sessions that have a valid signature, the current one first. */
    read({ headers }: IncomingMessage): string[] {
      const value = (headers.cookie ?? '')
        .split(';')
        .map((pair) => pair.trim())
        .find((pair) => pair.startsWith(`${name}=`))
        ?.slice(name.length + 1);
      return (value ?? '').split('~', maxSessions).flatMap((pair) => {
        const [, sessionId, signature] = /^([\w-]{1,64})\.([\w-]{43})$/.exec(pair) ?? [];
        if (sessionId === undefined || signature === undefined) return [];
        return timingSafeEqual(Buffer.from(signature, 'base64url'), signatureOf(sessionId)) ? [sessionId] : [];
      });
    },

    /** Reports whether the browser's header fields show that a page of this service made the request. */
    isFromOurPage({ headers }: IncomingMessage): boolean {
      const site = headers['sec-fetch-site'];
      if (site !== undefined) return site === 'same-origin';
      const { origin, host } = headers;
      if (origin === undefined || !URL.canParse(origin)) return false;
      return origin === ourOrigin || new URL(origin).host === host;
    },
  };
}
