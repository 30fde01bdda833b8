import type { z } from 'zod';
import type { ApiCaller } from '../access/api-caller.ts';
import type { AppContext } from './app-context.ts';

/** Who may ask, and whom the handler then acts for. A session counts as a key of either kind. */
export interface Callers {
  admin: ApiCaller;
  assistant: ApiCaller;
  session: ApiCaller & { sessionId: string; expiresAt: Date };
  none: null;
}

type Shape = Record<string, z.ZodType>;

/** One answer of a route: its content by media type; none is an empty body. */
export interface Response {
  description: string;
  content?: Record<string, z.ZodType>;
  /** Header fields, with what they hold. */
  headers?: Record<string, string>;
}

/** All there is to say about an endpoint but what it does: the router, the validation and the OpenAPI document are made of it. */
export interface Route {
  method: 'get' | 'post' | 'patch' | 'delete';
  /** With `{names}` in braces, as in OpenAPI. */
  path: string;
  summary: string;
  description?: string;
  key: keyof Callers;
  /** A part of the path that does not fit is a 404. */
  params?: Shape;
  query?: z.ZodObject;
  headers?: Shape;
  /** JSON. One that takes `undefined` may be left out. */
  body?: z.ZodType;
  maxBytes?: number;
  responses: Record<number, Response>;
  /** Error statuses beside those that the rest of the declaration implies. */
  errors?: number[];
}

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
type WithParams<Path extends string> = [NamesIn<Path>] extends [never]
  ? unknown
  : { params: Record<NamesIn<Path>, z.ZodType> };

/** Declares an endpoint. Every name in its path needs a schema. */
export function defineRoute<const R extends Route>(route: R & WithParams<R['path']>): R {
  return route;
}

type OutputOf<Given> = Given extends z.ZodType
  ? z.output<Given>
  : { [Name in keyof Given]: Given[Name] extends z.ZodType ? z.output<Given[Name]> : never };
type Part<R, Name extends string> = R extends Record<Name, infer Given> ? OutputOf<Given> : null;

/** What a handler is given, validated but for the body, which is read when it is asked for: a request may be refused before. */
interface Request<Caller, Params, Query, Headers, Body> {
  ctx: AppContext;
  caller: Caller;
  params: Params;
  query: Query;
  headers: Headers;
  body(): Promise<Body>;
  /** The body as it came, for a handler with a parser of its own. */
  json(): Promise<unknown>;
}

export type RouteRequest<R extends Route> = Request<
  Callers[R['key']],
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

/** The body of the answer; nothing where the handler has written the answer itself, or where it has no body. */
export type RouteAnswer<R extends Route> = JsonOf<R['responses'][keyof R['responses']]> | void;

export type Handlers<Routes extends Record<string, Route>> = {
  [Id in keyof Routes]: (
    request: RouteRequest<Routes[Id]>,
  ) => RouteAnswer<Routes[Id]> | Promise<RouteAnswer<Routes[Id]>>;
};

/** An answer of JSON. */
export function json<const Schema extends z.ZodType>(description: string, schema: Schema) {
  return { description, content: { 'application/json': schema } };
}
