import type { IncomingMessage } from 'node:http';
import { z } from 'zod';

export const maxOrigins = 50;
const wildcard = '://*.';
const maxOriginLength = 300;

/**
 * Parses an origin from which a public key may be used, such as `https://docs.example.com`, `http://localhost:3000` or
 * `https://*.example.com`, where `*` stands for exactly one label. Returns it as browsers write it, or null.
 */
export function parseOrigin(text: string): string | null {
  if (text.length > maxOriginLength) return null;
  const [scheme, domain, ...more] = text.split(wildcard);
  if (more.length > 0) return null;
  if (domain === undefined) return originOf(text);
  // the `*` is replaced by a label, so that the URL parser accepts the host
  const origin = originOf(`${scheme}://label.${domain}`);
  const isBelowDomain = origin !== null && /^https?:\/\/label\.[^.]+\.[^.]/.test(origin);
  return isBelowDomain ? origin.replace('://label.', wildcard) : null;
}

function originOf(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname.includes('*')) return null;
  // rejects anything beyond an origin, such as a path or a user name
  return url.href === `${url.origin}/` && /^https?:\/\/[^/?#@\\\s]+\/?$/i.test(text) ? url.origin : null;
}

/**
 * Returns the origin of the page that sent a request, from its `Origin` header. Browsers omit this header when a page
 * reads from its own origin (https://fetch.spec.whatwg.org/#append-a-request-origin-header). Only the proxy in front of
 * Docket knows the scheme of that origin, so both schemes are returned. Empty for other requests without the header.
 */
export function originsOf({ headers }: IncomingMessage): string[] {
  if (headers.origin !== undefined) return [headers.origin];
  return headers['sec-fetch-site'] === 'same-origin' ? [`https://${headers.host}`, `http://${headers.host}`] : [];
}

/** Reports whether the `Origin` header of a request is one of the origins that `parseOrigin` has returned. */
export function isOneOfOrigins(origin: string, allowed: readonly string[]): boolean {
  return allowed.some((pattern) => {
    const [scheme = '', domain] = pattern.split(wildcard);
    if (domain === undefined) return origin === pattern;
    const [start, end] = [`${scheme}://`, `.${domain}`];
    return (
      origin.startsWith(start) && origin.endsWith(end) && /^[a-z0-9_-]+$/.test(origin.slice(start.length, -end.length))
    );
  });
}

/** Origins as an administrator types them. */
export const originsSchema = z
  .array(
    z.string().transform((text, context) => {
      const origin = parseOrigin(text.trim());
      if (origin !== null) return origin;
      context.addIssue('must be an origin such as https://docs.example.com or https://*.example.com, without a path');
      return z.NEVER;
    }),
  )
  .max(maxOrigins)
  .transform((origins) => [...new Set(origins)]);
