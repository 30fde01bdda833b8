import { z } from 'zod';
import type { Egress } from '../../lib/network/egress.ts';
import { failureOfAnswer } from './forge-failure.ts';
import { ForgeError } from './forge.ts';
import { PrivateAddressError } from '../../lib/network/public-lookup.ts';

export interface ForgeRequest {
  /** Name of the forge, for error messages. */
  forge: string;
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
  egress: Pick<Egress, 'fetch'>;
  signal: AbortSignal;
}

export interface ForgeResponse {
  status: number;
  headers: Record<string, string>;
  data: unknown;
}

/** Schema of a pull request's web address, which is stored, listed and sent in webhooks. */
export const linkSchema = z.url({ protocol: /^https?$/ }).max(2_000);

/** Number of items requested per page, and the most that are accepted. */
export const maxPageSize = 100;
/** Maximum number of pages read, newest first. */
export const maxPages = 20;

/** Returns the schema of a page. A page that is too long is refused before its items are parsed. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.array(z.unknown()).max(maxPageSize).pipe(z.array(item));
}

/** Sends one request and returns any response. Follows no redirects, which could leak the token. Errors: ForgeError. */
export async function askForge({ forge, signal, url, egress, ...request }: ForgeRequest): Promise<ForgeResponse> {
  try {
    const response = await egress.fetch(url, { ...request, signal });
    const headers = Object.fromEntries(response.headers);
    const data = await dataOf(response);
    return { status: response.status, headers, data };
  } catch (error) {
    if (signal.aborted) throw new ForgeError('aborted', `The request to ${forge} was stopped.`);
    if (error instanceof PrivateAddressError) throw leadsToPrivateAddress(forge);
    throw new ForgeError('unavailable', `${forge} could not be reached.`, { cause: error });
  }
}

/** Sends one request and throws a ForgeError for any status but 2xx. */
export async function sendToForge(request: ForgeRequest): Promise<ForgeResponse> {
  const response = await askForge(request);
  if (response.status >= 200 && response.status < 300) return response;
  throw failureOfAnswer({ forge: request.forge, status: response.status, headers: response.headers });
}

/** Returns the error for a forge at an address that the worker may not connect to. */
export function leadsToPrivateAddress(forge: string): ForgeError {
  const remedy = "if that is intended, add its host to the worker's DOCKET_PRIVATE_HOSTS";
  return new ForgeError('not-found', `The address of ${forge} resolves to a private network; ${remedy}.`);
}

async function dataOf(response: Response): Promise<unknown> {
  try {
    return JSON.parse(await response.text());
  } catch {
    return null;
  }
}
