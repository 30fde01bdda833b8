import type { AppMiddleware } from './app-context.ts';
import { dashboardPolicy } from './files/dashboard.ts';
import type { DashboardFiles } from './files/dashboard-files.ts';
import { methodNotAllowed, pathNotFound } from './errors.ts';
import { setPageHeaders } from './files/page-headers.ts';

/**
 * Creates the last middleware. It answers 405 with Allow when only the method is wrong, and 404 otherwise: in a browser
 * with the dashboard, which says that there is no such page.
 */
export function createNoRoute({ files }: { files: Pick<DashboardFiles, 'index'> }): AppMiddleware {
  return async (ctx) => {
    const matched: unknown = Reflect.get(ctx, 'matched');
    const methods = new Set(Array.isArray(matched) ? matched.flatMap(methodsOf) : []);
    if (methods.size === 0) {
      const isForBrowser = ctx.method === 'GET' && ctx.accepts('json', 'html') === 'html';
      const page = isForBrowser ? await files.index() : null;
      if (page === null) throw pathNotFound();
      setPageHeaders(ctx, dashboardPolicy);
      ctx.set('Cache-Control', 'no-store');
      ctx.status = 404;
      ctx.body = page.plain;
      return;
    }
    const allowed = [...methods, 'OPTIONS'].toSorted().join(', ');
    if (ctx.method !== 'OPTIONS') throw methodNotAllowed(allowed);
    ctx.status = 204;
    ctx.set('Allow', allowed);
  };
}

/** Returns the methods of a route that matched by its path. */
function methodsOf(layer: unknown): string[] {
  if (typeof layer !== 'object' || layer === null || !('methods' in layer) || !Array.isArray(layer.methods)) return [];
  return layer.methods.filter((method) => typeof method === 'string');
}
