import createClient from 'openapi-fetch';
import type { paths } from './schema.d.ts';

/** Client of the public HTTP API, typed by its OpenAPI description. The session cookie authenticates it. */
export const api = createClient<paths>({ baseUrl: location.origin, credentials: 'same-origin' });

/** Error response of the API, with the API's own message. */
export class ApiProblem extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ApiProblem';
    this.status = status;
  }
}

/** Returns the API's response data. Throws ApiProblem with its message for any status other than 2xx. */
export async function answerOf<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok && data !== undefined) return data;
  throw new ApiProblem(response.status, sentenceOf(error, response.status));
}

/** Waits for a response without a body. Throws ApiProblem for any status other than 2xx. */
export async function done(call: Promise<{ error?: unknown; response: Response }>): Promise<void> {
  const { error, response } = await call;
  if (!response.ok) throw new ApiProblem(response.status, sentenceOf(error, response.status));
}

function sentenceOf(body: unknown, status: number): string {
  if (typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string') return body.error;
  return `The server responded with ${status}. Try again in a moment.`;
}

/** Reports whether an error is a 404, which a retry would not change. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 404;
}

/** Reports whether an error is a 409: the state has changed since the user saw it. */
export function isConflict(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 409;
}

/** Returns the message of any thrown value. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiProblem) return error.message;
  if (error instanceof TypeError) return 'The server cannot be reached. Check that Docket is running, then try again.';
  return error instanceof Error ? error.message : String(error);
}
