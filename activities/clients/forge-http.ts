import { failureOfAnswer } from './forge-failure.ts';
import { ForgeError } from './forge.ts';

export interface ForgeRequest {
  /** The name of the forge, for the sentences of failures. */
  forge: string;
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
  signal: AbortSignal;
}

export interface ForgeResponse {
  status: number;
  headers: Record<string, string>;
  data: unknown;
}

/** How long a forge may take for one answer. */
export const requestTimeoutMs = 30_000;
const longestAnswer = 8 * 1024 * 1024;

/** Sends one request and answers whatever comes back. Follows no redirect, so a token stays with its server. Errors: ForgeError. */
export async function askForge({ forge, signal, url, ...request }: ForgeRequest): Promise<ForgeResponse> {
  try {
    const response = await fetch(url, {
      ...request,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]),
    });
    const headers = Object.fromEntries(response.headers);
    const data = await dataOf(response);
    return { status: response.status, headers, data };
  } catch (error) {
    if (signal.aborted) throw new ForgeError('aborted', `The request to ${forge} was stopped.`);
    throw new ForgeError('unavailable', `${forge} could not be reached.`, { cause: error });
  }
}

/** The same for requests that must succeed: any other status than 2xx is thrown as what it means. */
export async function sendToForge(request: ForgeRequest): Promise<ForgeResponse> {
  const response = await askForge(request);
  if (response.status >= 200 && response.status < 300) return response;
  throw failureOfAnswer({ forge: request.forge, status: response.status, headers: response.headers });
}

async function dataOf(response: Response): Promise<unknown> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > longestAnswer) throw new Error('The answer is too long.');
    pieces.push(piece);
  }
  const text = Buffer.concat(pieces).toString();
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
