import type { IncomingHttpHeaders } from 'node:http';

const redirects = new Set([301, 302, 303, 307, 308]);

/** Returns the address that a redirect leads to, as the server wrote it; null for any other response. */
export function redirectOf(status: number, { location }: IncomingHttpHeaders): string | null {
  return redirects.has(status) ? (location ?? null) : null;
}
