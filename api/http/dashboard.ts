import type { AppContext, AppMiddleware } from './app-context.ts';
import type { DashboardFile, DashboardFiles } from './dashboard-files.ts';

/** Content Security Policy that allows only what the service itself serves: no inline code, other hosts or frames. */
const dashboardPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Paths of the app, which it routes on the client side. */
export const appPaths = /^\/(?:$|(?:jobs|new|sign-in|playground|conversations|gaps|operations|settings|pulls)(?:\/|$))/;

/** Serves the built dashboard: files by name, and the app's page at every app path. Other requests are passed on. */
export function createDashboard({ files }: { files: DashboardFiles }): AppMiddleware {
  return async (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    const isOfApp = appPaths.test(ctx.path);
    if (!isOfApp && !/\.\w+$/.test(ctx.path)) return next();
    const file = isOfApp ? await files.index() : await files.find(ctx.path.slice(1));
    if (file === null) return next();
    ctx.state.route = 'dashboard';
    send(ctx, file);
  };
}

function send(ctx: AppContext, file: DashboardFile): void {
  ctx.set('Content-Type', file.type);
  ctx.set('Cache-Control', file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache');
  ctx.set('ETag', file.etag);
  ctx.set('Vary', 'Accept-Encoding');
  if (file.type.startsWith('text/html')) {
    ctx.set('Content-Security-Policy', dashboardPolicy);
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
    ctx.set('Permissions-Policy', 'camera=(), geolocation=(), microphone=()');
  }
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  const encoding = ctx.acceptsEncodings('br', 'gzip', 'identity');
  const packed = encoding === 'br' ? file.brotli : encoding === 'gzip' ? file.gzip : null;
  if (packed !== null && typeof encoding === 'string') ctx.set('Content-Encoding', encoding);
  ctx.body = packed ?? file.plain;
}
