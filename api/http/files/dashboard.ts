import type { AppMiddleware } from '../app-context.ts';
import type { DashboardFiles } from './dashboard-files.ts';
import { setPageHeaders } from './page-headers.ts';
import { sendStaticFile } from './static-file.ts';

/** Content Security Policy that allows only what the service itself serves: no inline code, other hosts or frames. */
export const dashboardPolicy = [
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
export const appPaths =
  /^\/(?:$|(?:jobs|new|sign-in|playground|conversations|gaps|analytics|evaluations|operations|settings|pulls|compare|design)(?:\/|$))/;

/** Serves the built dashboard: files by name, and the app's page at every app path. Other requests are passed on. */
export function createDashboard({ files }: { files: DashboardFiles }): AppMiddleware {
  return async (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    const isOfApp = appPaths.test(ctx.path);
    if (!isOfApp && !/\.\w+$/.test(ctx.path)) return next();
    const file = isOfApp ? await files.index() : await files.find(ctx.path.slice(1));
    if (file === null) return next();
    ctx.state.route = 'dashboard';
    if (file.type.startsWith('text/html')) setPageHeaders(ctx, dashboardPolicy);
    sendStaticFile(ctx, file);
  };
}
