import { STATUS_CODES } from 'node:http';
import type { Logger } from 'pino';
import { ZodError } from 'zod';
import type { AppMiddleware } from './app-context.ts';
import { ThreadQueueError } from '../../lib/threads/fair-queue.ts';
import { ApiError, internalError, tooMuchWork } from './errors.ts';

/** Returns the client-facing error for an error of a route, or null for an unexpected one. */
export type RefusalOf = (error: unknown) => ApiError | null;

export interface ErrorHandlerDeps {
  log: Logger;
  /** Returns the client-facing error for an error of the stores, or null for any other error. */
  refusalOfStore: RefusalOf;
}

/** Option of a schema's `parse` with which the error tells a missing field from a wrong one. */
export const withInput = { reportInput: true };

/** Creates the function that turns an error into the response for the client. */
export function createRefusals({ refusalOfStore }: Pick<ErrorHandlerDeps, 'refusalOfStore'>): RefusalOf {
  return (error) => {
    if (error instanceof ApiError) return error;
    if (error instanceof ZodError) return new ApiError(400, problemSentence(error));
    const ofStore = refusalOfStore(error);
    if (ofStore !== null) return ofStore;
    if (error instanceof ThreadQueueError) return tooMuchWork();
    const status = clientStatusOf(error);
    return status === null
      ? null
      : new ApiError(status, `The request was refused: ${STATUS_CODES[status] ?? 'bad request'}.`);
  };
}

/**
 * Creates the middleware that turns an error thrown by a route into its status and exactly `{ "error": "<sentence>" }`.
 * Unexpected errors are logged once.
 */
export function createErrorHandler({ log, refusalOfStore }: ErrorHandlerDeps): AppMiddleware {
  const refusalOf = createRefusals({ refusalOfStore });

  return async function handleErrors(ctx, next) {
    ctx.res.setHeader('X-Content-Type-Options', 'nosniff');
    try {
      await next();
    } catch (error) {
      const refusal = refusalOf(error) ?? internalError();
      const fields = { requestId: ctx.state.requestId, method: ctx.method, path: ctx.path };
      if (refusal.status === 500) log.error({ ...fields, err: error }, 'request failed');
      else if (refusalOfStore(error)?.status === 503) log.warn({ ...fields, err: error }, 'request refused by a store');
      if (ctx.headerSent) return; // the status is already sent; the writer of the stream ends it
      ctx.respond = true;
      ctx.status = refusal.status;
      ctx.set(refusal.headers);
      ctx.set('Cache-Control', 'no-store');
      ctx.body = { error: refusal.message };
    }
  };
}

/** Returns the 4xx status of an error that a Koa library meant for the client, or null for any other error. */
function clientStatusOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('expose' in error) || error.expose !== true) return null;
  if (!('status' in error) || typeof error.status !== 'number') return null;
  return error.status >= 400 && error.status < 500 ? error.status : null;
}

/**
 * Returns the first problem of a request as a sentence. It never repeats the client's input, except the name of an
 * unknown field. Unknown fields come first, because a misspelled field is also reported as missing.
 */
function problemSentence(error: ZodError): string {
  const issue = error.issues.find(({ code }) => code === 'unrecognized_keys') ?? error.issues[0];
  if (issue === undefined) return 'The request is invalid.';
  if (issue.code === 'unrecognized_keys') return issue.message;
  const field = issue.path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
  return `${field === '' ? 'The body' : field.slice(0, 200)} ${expectationOf(issue)}.`;
}

function expectationOf(issue: ZodError['issues'][number]): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.path.length > 0 && !('input' in issue)) return `is missing or not ${article(issue.expected)}`;
      return issue.path.length > 0 && issue.input === undefined ? 'is missing' : `must be ${article(issue.expected)}`;
    case 'too_small':
      return isNumeric(issue.origin)
        ? `must be at least ${issue.minimum}`
        : `must have at least ${issue.minimum} ${unitOf(issue.origin, issue.minimum)}`;
    case 'too_big':
      return isNumeric(issue.origin)
        ? `must be at most ${issue.maximum}`
        : `must have at most ${issue.maximum} ${unitOf(issue.origin, issue.maximum)}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_union':
      return formsOf(issue);
    case 'custom':
    case 'invalid_format':
      return issue.message.replace(/\.$/, '');
    default:
      return 'is invalid';
  }
}

/** Returns what a union expects: one of the values that select its forms, or one of its types. */
function formsOf(issue: Extract<ZodError['issues'][number], { code: 'invalid_union' }>): string {
  if ('options' in issue) return `must be one of ${issue.options?.map(String).join(', ')}`;
  const types = issue.errors.map(([first]) =>
    first?.code === 'invalid_type' && first.path.length === 0 ? article(first.expected) : null,
  );
  return types.includes(null) ? 'has an invalid form' : `must be ${types.join(' or ')}`;
}

function isNumeric(origin: string): boolean {
  return origin === 'number' || origin === 'int';
}

function unitOf(origin: string, count: number | bigint): string {
  return `${origin === 'string' ? 'character' : 'item'}${Number(count) === 1 ? '' : 's'}`;
}

function article(expected: string): string {
  if (expected === 'int') return 'a whole number';
  if (expected === 'record') return 'an object';
  return /^[aeiou]/.test(expected) ? `an ${expected}` : `a ${expected}`;
}
