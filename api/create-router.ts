// oxlint-disable-next-line typescript/no-restricted-imports -- the one place that makes a router
import { Router } from '@koa/router';
import type { AppRouter, AppState } from './http/app-context.ts';

/**
 * Creates a router that matches paths exactly: `/METRICS` and `/metrics/` are not `/metrics`, so that a proxy rule
 * covers exactly the path it names. A prefix precedes every path, so a router whose root is a resource uses
 * full paths instead.
 */
export function createRouter({ prefix = '' }: { prefix?: string } = {}): AppRouter {
  return new Router<AppState>({ prefix, strict: true, sensitive: true });
}
