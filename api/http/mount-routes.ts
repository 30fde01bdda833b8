import type { ParsedUrlQuery } from 'node:querystring';
import { z } from 'zod';
import { createRouter } from '../create-router.ts';
import type { Admission } from '../access/request-access.ts';
import type { AppContext, AppRouter } from './app-context.ts';
import { includesRole } from '../../lib/roles.ts';
import { keyOf, roleOf, type Handlers, type Route, type Callers } from './define-route.ts';
import { roleTooLow } from '../access/errors.ts';
import { invalidRequest, pathNotFound } from './errors.ts';
import { withInput } from './error-handler.ts';
import { hasBody, readJsonBody } from './json-body.ts';

/**
 * Header fields that decide whether a request is admitted, by the access rule of its route: readers are counted by their
 * token even where it opens no pages. `Authorization` and `Cookie` keep a response out of shared caches as they are.
 */
const admissionFields: Readonly<Record<keyof Callers, readonly string[]>> = {
  admin: [],
  assistant: ['X-Reader-Token', 'X-Proof-Of-Work'],
  'assistant-unproven': [],
  session: [],
  none: [],
};

interface ErasedRequest {
  ctx: AppContext;
  caller: unknown;
  params: unknown;
  query: unknown;
  headers: unknown;
  body(): Promise<unknown>;
  json(): Promise<unknown>;
}

type ErasedHandler = { handle(request: ErasedRequest): unknown }['handle'];

const usualBytes = 64 * 1024;

/**
 * Creates a router for declared endpoints. Each checks access, validates the request and sends its handler's result.
 * Handlers get declared header fields only, and every response varies on them and on those that admission reads.
 */
export function mountRoutes<Routes extends Record<string, Route>>(
  admit: Admission,
  routes: Routes,
  handlers: Handlers<Routes>,
): AppRouter;
export function mountRoutes(
  admit: Admission,
  routes: Record<string, Route>,
  handlers: Record<string, ErasedHandler>,
): AppRouter {
  const router = createRouter();
  for (const [id, route] of Object.entries(routes)) {
    const handle = handlers[id];
    if (handle === undefined) throw new TypeError(`The route ${id} has no handler.`);
    const read = createReader(route);
    const answer = createAnswer(route);
    const key = keyOf(route);
    const role = roleOf(route);
    const path = route.path.replace('{+', '*').replaceAll('{', ':').replaceAll('}', '');
    const fields = [...new Set([...Object.keys(route.headers ?? {}), ...admissionFields[key]])];
    router.register(path, [route.method], async (ctx) => {
      // also of refusals: a cache that ignores no-store must not send one reader's pages to another
      if (fields.length > 0) ctx.vary(fields);
      const caller = await admit[key](ctx);
      if (role !== null && (caller === null || !includesRole(caller.role, role))) throw roleTooLow(role);
      ctx.set('Cache-Control', 'no-store');
      answer(ctx, await handle({ ctx, caller, ...read(ctx) }));
    });
  }
  return router;
}

function createReader({ params = {}, query, headers = {}, body, maxBytes = usualBytes }: Route) {
  const paramsSchema = z.object(params);
  const headersSchema = z.object(headers);
  const mayBeMissing = body?.safeParse(undefined).success === true;
  return (ctx: AppContext & { params: unknown }): Omit<ErasedRequest, 'ctx' | 'caller'> => {
    const parts = paramsSchema.safeParse(ctx.params);
    if (!parts.success) throw pathNotFound();
    if (hasNul(ctx.query)) throw invalidRequest('A query parameter contains a NUL character (%00). Remove it.');
    const sent = Object.keys(headers).map((name) => [name, ctx.req.headers[name.toLowerCase()]]);
    const readJson = () => readJsonBody(ctx.req, { maxBytes });
    return {
      params: parts.data,
      query: query === undefined ? null : parseQuery(query, ctx.query),
      headers: headersSchema.parse(Object.fromEntries(sent), withInput),
      json: readJson,
      async body() {
        return body?.parse(mayBeMissing && !hasBody(ctx.req) ? undefined : await readJson(), withInput);
      },
    };
  };
}

/** Parses a query. A parameter that was repeated is a list; the error says so, because the client wrote none. */
function parseQuery(schema: z.ZodObject, query: ParsedUrlQuery): unknown {
  const { data, error } = schema.safeParse({ ...query }, withInput);
  const repeated = error?.issues.find((issue) => issue.code === 'invalid_type' && Array.isArray(issue.input));
  if (repeated !== undefined)
    throw invalidRequest(`The query parameter ${String(repeated.path[0])} must not be repeated.`);
  if (error !== undefined) throw error;
  return data;
}

/** Reports whether a query contains the character that no text of the database can contain. */
function hasNul(query: ParsedUrlQuery): boolean {
  return Object.values(query).some((value) => String(value).includes('\0'));
}

/**
 * Returns a function that sends a handler's result. A single declared response sets the status, and a single text type
 * the Content-Type; with several, the handler sets them.
 */
function createAnswer({ responses }: Route) {
  const statuses = Object.keys(responses).map(Number);
  const types = Object.values(responses).flatMap(({ content = {} }) => Object.keys(content));
  const [type] = types;
  const textType = types.length === 1 && type?.startsWith('text/') === true ? `${type}; charset=utf-8` : null;
  return (ctx: AppContext, body: unknown): void => {
    if (ctx.respond === false) return;
    const [status] = statuses;
    if (statuses.length === 1 && status !== undefined) ctx.status = status;
    if (body === undefined) return;
    if (textType !== null) ctx.set('Content-Type', textType);
    ctx.body = body;
  };
}
