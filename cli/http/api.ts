import createClient, { type Client } from 'openapi-fetch';
import { z } from 'zod';
import type { paths } from '../../dashboard/http/schema.d.ts';
import { CommandError } from '../command-error.ts';
import type { ApiSettings } from './settings.ts';

/** The public HTTP API, with the types of its OpenAPI description. */
export type Api = Client<paths>;

/** A refusal of the API, in its own sentence. */
export class ApiProblem extends CommandError {
  override name = 'ApiProblem';
  readonly status: number;

  constructor(status: number, body: unknown) {
    super(sentenceOf(body) ?? `The server responded with ${status}. Check the URL of Docket (--url, DOCKET_URL).`);
    this.status = status;
  }
}

export const foreignAnswer = 'The response is not from Docket. Check the URL (--url, DOCKET_URL).';

/** Parses JSON of the server by a schema. Throws CommandError. */
export function parseAnswer<T>(schema: z.ZodType<T>, text: string): T {
  const parsed = z.string().transform(jsonOf).pipe(schema).safeParse(text);
  if (parsed.success) return parsed.data;
  throw new CommandError(foreignAnswer, { cause: parsed.error });
}

function jsonOf(text: string, context: z.RefinementCtx): unknown {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'is not JSON' });
    return z.NEVER;
  }
}

/** The server was not reached, or the connection was interrupted. */
export class UnreachableError extends CommandError {
  override name = 'UnreachableError';
}

export function createApi({ baseUrl, key }: Pick<ApiSettings, 'baseUrl' | 'key'>): Api {
  return createClient<paths>({
    baseUrl,
    headers: { Authorization: `Bearer ${key}` },
    async fetch(request) {
      try {
        // a body may hold a credential of a forge: it goes to the named server only
        return await found(baseUrl, inPlace(request, await fetch(request, { redirect: 'manual' })));
      } catch (cause) {
        if (cause instanceof CommandError) throw cause;
        throw new UnreachableError(
          `Docket does not respond at ${baseUrl}. Check the URL (--url, DOCKET_URL) and that the service is running.`,
          { cause },
        );
      }
    },
  });
}

function inPlace(request: Request, response: Response): Response {
  if (response.status < 300 || response.status >= 400) return bounded(request, response);
  const target = response.headers.get('Location')?.slice(0, 300) ?? 'another address';
  throw new CommandError(`The server redirects to ${target}. If Docket is there, use that URL (--url, DOCKET_URL).`);
}

/** Returns the response. Throws ApiProblem for a 404 that a path in the address may have caused. */
async function found(baseUrl: string, response: Response): Promise<Response> {
  if (response.status !== 404 || new URL(baseUrl).pathname === '/') return response;
  const sentence = sentenceOf(await response.json().catch(() => null)) ?? 'Not found.';
  const error = `${sentence} If Docket is not below the path of ${baseUrl}, omit the path (--url, DOCKET_URL).`;
  throw new ApiProblem(404, { error });
}

/** Longest answer that is read whole. */
const maxAnswerLength = 64 * 1024 * 1024;
/** Longest bundle, which is written to a file: a job has at most 512 MB of snapshots, and its texts compress well. */
const maxBundleBytes = 4 * 1024 ** 3;

/** Each message of a stream is bounded where it is read, but not the stream. */
const maxStreamLengths: Record<string, number> = { 'text/event-stream': Infinity, 'application/gzip': maxBundleBytes };

/** Limits the size of a response, because a foreign server may send one without end. */
function bounded(request: Request, response: Response): Response {
  const accepted = request.headers.get('Accept') ?? '';
  const maxLength = (response.ok ? maxStreamLengths[accepted] : undefined) ?? maxAnswerLength;
  if (response.body === null || maxLength === Infinity) return response;
  let length = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        length += chunk.length;
        if (length > maxLength) controller.error(new CommandError(foreignAnswer));
        else controller.enqueue(chunk);
      },
    }),
  );
  return new Response(counted, response);
}

interface Unread {
  error?: unknown;
  response: Response;
}

/** Returns the JSON object of a response. Throws ApiProblem for every status but 2xx. */
export async function answerOf<T>(call: Promise<Unread & { data?: T }>): Promise<T> {
  const data = await bodyOf(call);
  if (typeof data !== 'object' || data === null) throw new CommandError(foreignAnswer);
  return data;
}

/** Returns the body of a response, text included (`parseAs: 'text'`). Throws ApiProblem for every status but 2xx. */
export async function bodyOf<T>(call: Promise<Unread & { data?: T }>): Promise<T> {
  const { data, error, response } = await call.catch(withoutSyntaxError);
  if (!response.ok || data === undefined) throw new ApiProblem(response.status, error);
  return data;
}

function withoutSyntaxError(cause: unknown): never {
  throw cause instanceof SyntaxError ? new CommandError(foreignAnswer, { cause }) : cause;
}

/** The same for answers without a body. */
export async function done(call: Promise<Unread>): Promise<void> {
  const { error, response } = await call;
  if (!response.ok) throw new ApiProblem(response.status, error);
}

/** The body of an answer that comes as a stream (`parseAs: 'stream'`). */
export async function streamOf(call: Unread | Promise<Unread>) {
  const { error, response } = await call;
  if (response.ok && response.body !== null) return response.body;
  throw new ApiProblem(response.status, error);
}

/** Waits for the reader of a stream. fetch reports a lost connection as a TypeError. */
export async function whole<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new UnreachableError('The connection to Docket was lost. Run the command again.', { cause });
  }
}

const maxPages = 1_000;

/** Reads a list to its end, page by page. */
export async function everyItem<Page extends { nextCursor: string | null }, Item>(
  read: (query: { cursor?: string; limit: number }) => Promise<Page>,
  itemsOf: (page: Page) => Item[],
): Promise<Item[]> {
  const items: Item[] = [];
  let pages = 0;
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page = await read({ cursor, limit: 100 });
    items.push(...itemsOf(page));
    pages += 1;
    if (pages === maxPages) throw new CommandError(foreignAnswer);
    cursor = page.nextCursor;
  }
  return items;
}

function sentenceOf(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('error' in body)) return null;
  return typeof body.error === 'string' ? body.error : null;
}
