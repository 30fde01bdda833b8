import { createRequire } from 'node:module';
import { z } from 'zod';
import type { Egress } from '../../lib/network/egress.ts';
import { askForge, pageOf } from './forge-http.ts';
import { failureOfAnswer, type ForgeHeaders } from './forge-failure.ts';
import { ForgeError } from './forge.ts';
import { trimEndSlashes } from '../../lib/trim-end-slashes.ts';

/** A request that GitLab refused, with the HTTP status and the kind of failure. */
export class GitlabRefusal extends ForgeError {
  override name = 'GitlabRefusal';
  readonly status: number;

  constructor(status: number, failure: ForgeError) {
    super(failure.kind, failure.message, failure.retryAfterMs === null ? {} : { retryAfterMs: failure.retryAfterMs });
    this.status = status;
  }
}

const load = createRequire(import.meta.url);

const optionsSchema = z.object({
  prefixUrl: z.string(),
  searchParams: z.string().default(''),
  method: z.string().default('GET'),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().optional(),
});
// a message is a string, a list, or strings by field
const refusalSchema = z.object({ message: z.unknown() });

/**
 * Creates the transport of Gitbeaker's resources. Gitbeaker's own retries at 429 and 502, ignores Retry-After, and
 * cannot be aborted with the job. This one sends each request once and leaves retries to the activity.
 */
export function createGitlabTransport(egress: Egress, signal: AbortSignal) {
  const { createRequesterFn }: typeof import('@gitbeaker/requester-utils') = load('@gitbeaker/requester-utils');
  return createRequesterFn(
    (_service, options) => Promise.resolve(options),
    async (endpoint, given) => {
      const { prefixUrl, searchParams, method, headers, body } = optionsSchema.parse(given);
      const url = new URL(endpoint, `${trimEndSlashes(prefixUrl)}/`);
      url.search = searchParams;
      const answer = await askForge({ forge: 'GitLab', method, url: url.href, headers, body, egress, signal });
      if (answer.status >= 200 && answer.status < 300)
        // no headers: Gitbeaker would follow every link to a next page that the server sends
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
