import { z } from 'zod';
import type { Egress } from '../network/egress.ts';
import { failureOfAnswer } from './forge-failure.ts';
import { ForgeError } from './forge.ts';
import { PrivateAddressError } from '../network/public-lookup.ts';

export interface ForgeRequest {
  /** The name of the forge, for the sentences of failures. */
  forge: string;
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
  egress: Egress;
  signal: AbortSignal;
}

export interface ForgeResponse {
  status: number;
  headers: Record<string, string>;
  data: unknown;
}

/** Where people find a pull request: it is stored, listed and sent on. */
export const linkSchema = z.url({ protocol: /^https?$/ }).max(2_000);

/** The items of a list that are asked for at once, and taken. */
export const longestPage = 100;
/** The pages of a list that are read, newest first. */
export const mostPages = 20;

/** The schema of a list of a forge; a longer one is refused before its items are looked at. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.array(z.unknown()).max(longestPage).pipe(z.array(item));
}

/** Sends one request and answers whatever comes back. Follows no redirect, so a token stays with its server. Errors: ForgeError. */
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

/** The same for requests that must succeed: any other status than 2xx is thrown as what it means. */
export async function sendToForge(request: ForgeRequest): Promise<ForgeResponse> {
  const response = await askForge(request);
  if (response.status >= 200 && response.status < 300) return response;
  throw failureOfAnswer({ forge: request.forge, status: response.status, headers: response.headers });
}

/** What it means that a forge lies where the worker may not connect to. */
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
