import type { AppContext } from '../app-context.ts';

/** Sets the header fields of an HTML page: its Content Security Policy, and what it may not do or reveal. */
export function setPageHeaders(ctx: Pick<AppContext, 'set'>, policy: string): void {
  ctx.set('Content-Type', 'text/html; charset=utf-8');
  ctx.set('Content-Security-Policy', policy);
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
  ctx.set('Permissions-Policy', 'camera=(), geolocation=(), microphone=()');
}
