import { createRequesterFn } from '@gitbeaker/requester-utils';
import { z } from 'zod';
import type { Egress } from '../network/egress.ts';
import { askForge, pageOf } from './forge-http.ts';
import { failureOfAnswer, type ForgeHeaders } from './forge-failure.ts';
import { ForgeError } from './forge.ts';

/** GitLab refused a request; `failure` is what that means for a job. */
export class GitlabRefusal extends ForgeError {
  override name = 'GitlabRefusal';
  readonly status: number;

  constructor(status: number, failure: ForgeError) {
    super(failure.kind, failure.message, failure.retryAfterMs === null ? {} : { retryAfterMs: failure.retryAfterMs });
    this.status = status;
  }
}

const optionsSchema = z.object({
  prefixUrl: z.string(),
  searchParams: z.string().default(''),
  method: z.string().default('GET'),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().optional(),
});
// a message is a text, a list, or texts by field
const refusalSchema = z.object({ message: z.unknown() });

/**
 * How Gitbeaker's resources reach the server. Its own transport repeats a request at 429 and 502 without heeding Retry-After
 * and cannot be stopped with the job; this one sends each request once, and the activity decides about another.
 */
export function createGitlabTransport(egress: Egress, signal: AbortSignal) {
  return createRequesterFn(
    (_service, options) => Promise.resolve(options),
    async (endpoint, given) => {
      const { prefixUrl, searchParams, method, headers, body } = optionsSchema.parse(given);
      const url = new URL(endpoint, `${prefixUrl.replace(/\/+$/, '')}/`);
      url.search = searchParams;
      const answer = await askForge({ forge: 'GitLab', method, url: url.href, headers, body, egress, signal });
      if (answer.status >= 200 && answer.status < 300)
        // Gitbeaker would follow links to further pages, as many as the server names
        return { status: answer.status, headers: {}, body: bodyOf(answer.data) };
      throw refusalOf(answer.status, answer.headers, answer.data);
    },
  );
}

const bodySchema = z.union([z.record(z.string(), z.unknown()), pageOf(z.record(z.string(), z.unknown())), z.null()]);

function bodyOf(data: unknown) {
  const result = bodySchema.safeParse(data);
  if (result.success) return result.data;
  throw new ForgeError('unavailable', "GitLab's response did not come from its API.");
}

function refusalOf(status: number, headers: ForgeHeaders, data: unknown): GitlabRefusal {
  const message = JSON.stringify(refusalSchema.safeParse(data).data?.message ?? '').slice(0, 500);
  return new GitlabRefusal(status, failureOfAnswer({ forge: 'GitLab', status, headers, message }));
}
