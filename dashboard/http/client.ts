import createClient from 'openapi-fetch';
import type { paths } from './schema.d.ts';

/** The public HTTP API, with the types of its OpenAPI description. The session cookie says who asks. */
export const api = createClient<paths>({ baseUrl: location.origin, credentials: 'same-origin' });

/** An answer that is not 2xx, with the sentence the API says. */
export class ApiProblem extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ApiProblem';
    this.status = status;
  }
}

/** What the API answered. Throws ApiProblem with its sentence for everything but 2xx. */
export async function answerOf<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok && data !== undefined) return data;
  throw new ApiProblem(response.status, sentenceOf(error, response.status));
}

/** For answers without a body. */
export async function done(call: Promise<{ error?: unknown; response: Response }>): Promise<void> {
  const { error, response } = await call;
  if (!response.ok) throw new ApiProblem(response.status, sentenceOf(error, response.status));
}

function sentenceOf(body: unknown, status: number): string {
  if (typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string') return body.error;
  return `The server responded with ${status}. Try again in a moment.`;
}

/** The sentence of anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiProblem) return error.message;
  if (error instanceof TypeError) return 'The server cannot be reached. Check that Docket is running, then try again.';
  return error instanceof Error ? error.message : String(error);
}
