import type { AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import { draining, storeUnavailable } from '../http/errors.ts';
import { contentSecurityPolicy } from '../openapi/html.ts';
import { renderReferencePage } from '../openapi/reference.ts';
import { renderHomePage } from '../openapi/home.ts';

export interface SystemRouteDeps {
  /** Asks the database anything; throws when it cannot be reached. */
  checkDatabase: () => Promise<void>;
  isDraining: () => boolean;
  openApi: unknown;
}

/** Health, readiness, the description of the API, and a page that says what this is. */
export function createSystemRouter({ checkDatabase, isDraining, openApi }: SystemRouteDeps): AppRouter {
  const description = JSON.stringify(openApi);
  let reference: string | null = null;
  const router = createRouter();

  router.get('/healthz', (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { status: 'ok' };
  });

  router.get('/readyz', async (ctx) => {
    if (isDraining()) throw draining();
    try {
      await checkDatabase();
    } catch {
      throw storeUnavailable();
    }
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { status: 'ok' };
  });

  router.get('/openapi.json', (ctx) => {
    ctx.set('Content-Type', 'application/json; charset=utf-8');
    ctx.body = description;
  });

  router.get('/reference', (ctx) => {
    reference ??= renderReferencePage(openApi);
    ctx.set('Content-Type', 'text/html; charset=utf-8');
    ctx.set('Content-Security-Policy', contentSecurityPolicy);
    ctx.body = reference;
  });

  router.get('/', (ctx) => {
    ctx.set('Content-Type', 'text/html; charset=utf-8');
    ctx.set('Content-Security-Policy', contentSecurityPolicy);
    ctx.body = renderHomePage();
  });

  return router;
}
