// oxlint-disable-next-line typescript/no-restricted-imports -- the one place that makes a router
import { Router } from '@koa/router';
import type { AppRouter, AppState } from './http/app-context.ts';

/**
 * Makes a router that matches paths exactly: `/METRICS` and `/metrics/` are not `/metrics`, so that a rule of a proxy in front
 * covers what it names. A prefix goes before every path, so a router whose own address is a resource takes whole paths.
 */
export function createRouter({ prefix = '' }: { prefix?: string } = {}): AppRouter {
  return new Router<AppState>({ prefix, strict: true, sensitive: true });
}
