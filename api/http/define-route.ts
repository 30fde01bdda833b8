import type { z } from 'zod';
import type { ApiCaller } from '../access/api-caller.ts';
import type { Role } from '../../lib/roles.ts';
import type { AppContext } from './app-context.ts';

/** Callers a route may admit, by its `key`. A session counts as a key of either kind. */
export interface Callers {
  admin: ApiCaller;
  assistant: ApiCaller;
  /** An assistant key whose proof of work, if it requires one, is not checked. */
  'assistant-unproven': ApiCaller;
  session: ApiCaller & { sessionId: string; expiresAt: Date; person: string | null };
  none: null;
}

type Shape = Record<string, z.ZodType>;

/** One response of a route, with its content by media type. Without content, the body is empty. */
export interface Response {
  description: string;
  content?: Record<string, z.ZodType>;
  /** Descriptions of the header fields, by name. */
  headers?: Record<string, string>;
}

/** Declaration of an endpoint, from which the router, the validation and the OpenAPI document are built. */
export interface Route {
  method: 'get' | 'post' | 'patch' | 'delete';
  /** Path with parameters as `{name}`, as in OpenAPI. A final `{+name}` may contain slashes. */
  path: string;
  summary: string;
  description?: string;
  /** Callers that are admitted; by default, those with an admin key. */
  key?: keyof Callers;
  /** Least role of an admin key or session. By default, `viewer` for reading and `admin` for everything else. */
  role?: Role;
  /** Path parameters. An invalid one is answered with 404. */
  params?: Shape;
  query?: z.ZodObject;
  headers?: Shape;
  /** Schema of the JSON body. The body is optional when the schema accepts `undefined`. */
  body?: z.ZodType;
  /** A valid body, for the OpenAPI document. */
  example?: object;
  maxBytes?: number;
  responses: Record<number, Response>;
  /** Error statuses in addition to those that the rest of the declaration implies. */
  errors?: number[];
}

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `+${infer Bare}` ? Bare : Name) | NamesIn<Rest>
  : never;
type WithParams<Path extends string> = [NamesIn<Path>] extends [never]
  ? unknown
  : { params: Record<NamesIn<Path>, z.ZodType> };

/** Declares an endpoint. Every parameter in its path needs a schema. */
export function defineRoute<const R extends Route>(route: R & WithParams<R['path']>): R {
  return route;
}

export function keyOf({ key = 'admin' }: Route): keyof Callers {
  return key;
}

/** Returns the lowest role that may call a route; null for one that admits assistant keys or needs no key. */
export function roleOf(route: Route): Role | null {
  const { role, method } = route;
  const key = keyOf(route);
  if (key !== 'admin' && key !== 'session') return null;
  return role ?? (method === 'get' ? 'viewer' : 'admin');
}

type OutputOf<Given> = Given extends z.ZodType
  ? z.output<Given>
  : { [Name in keyof Given]: Given[Name] extends z.ZodType ? z.output<Given[Name]> : never };
type Part<R, Name extends string> = R extends Record<Name, infer Given> ? OutputOf<Given> : null;

/** Validated input of a handler. The body is read on demand, so that a request can be refused without reading it. */
interface Request<Caller, Params, Query, Headers, Body> {
  ctx: AppContext;
  caller: Caller;
  params: Params;
  query: Query;
  headers: Headers;
  body(): Promise<Body>;
  /** Returns the unvalidated body, for handlers that parse it themselves. */
  json(): Promise<unknown>;
}

export type RouteRequest<R extends Route> = Request<
  Callers[R extends { key: infer Key extends keyof Callers } ? Key : 'admin'],
  Part<R, 'params'>,
  Part<R, 'query'>,
  Part<R, 'headers'>,
  Part<R, 'body'>
>;

type JsonOf<Given> = Given extends { content: { 'application/json': infer Schema extends z.ZodType } }
  ? z.output<Schema>
  : Given extends { content: object }
    ? string
    : never;

/** Response body returned by a handler. It is void when the response has no body or the handler has written it. */
type RouteAnswer<R extends Route> = JsonOf<R['responses'][keyof R['responses']]> | void;

export type Handlers<Routes extends Record<string, Route>> = {
  [Id in keyof Routes]: (
    request: RouteRequest<Routes[Id]>,
  ) => RouteAnswer<Routes[Id]> | Promise<RouteAnswer<Routes[Id]>>;
};

/** Declares a JSON response. */
export function json<const Schema extends z.ZodType>(description: string, schema: Schema) {
  return { description, content: { 'application/json': schema } };
}
