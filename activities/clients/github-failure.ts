import { z } from 'zod';
import { ForgeError } from './forge.ts';

const failureSchema = z.object({
  status: z.number(),
  response: z
    .object({
      headers: z.record(z.string(), z.union([z.string(), z.number(), z.undefined()])).catch({}),
      data: z
        .object({
          message: z.string().catch(''),
          documentation_url: z.string().catch(''),
          errors: z
            .array(
              z
                .object({ field: z.string().catch(''), code: z.string().catch(''), message: z.string().catch('') })
                .catch({ field: '', code: '', message: '' }),
            )
            .catch([]),
        })
        .catch({ message: '', documentation_url: '', errors: [] }),
    })
    .nullish(),
});
type Failure = z.infer<typeof failureSchema>;

const secondaryLimitWaitMs = 60_000;

/** What GitHub's answer to a failed request means; the error says nothing of the request itself. */
export function githubFailureOf(error: unknown, signal: AbortSignal): ForgeError {
  if (error instanceof ForgeError) return error;
  if (signal.aborted) return new ForgeError('aborted', 'The request to GitHub was stopped.');
  const parsed = failureSchema.safeParse(error);
  const failure = parsed.success ? parsed.data : null;
  if (failure === null || failure.response === null || failure.response === undefined) {
    return new ForgeError('unavailable', 'GitHub could not be reached.');
  }
  return failureOfAnswer(failure);
}

/** Whether GitHub refused a pull request because there is one for this branch already. */
export function isAlreadyExists(error: unknown): boolean {
  const parsed = failureSchema.safeParse(error);
  if (!parsed.success) return false;
  const { status, response } = parsed.data;
  if (status === 409) return true;
  return status === 422 && (response?.data.errors ?? []).some(({ message }) => /already exists/i.test(message));
}

function failureOfAnswer(failure: Failure): ForgeError {
  const { status } = failure;
  if (isRateLimit(failure)) {
    return new ForgeError('rate-limited', 'GitHub limits the requests of this credential.', {
      retryAfterMs: waitOf(failure) ?? secondaryLimitWaitMs,
    });
  }
  if (status === 401)
    return new ForgeError(
      'authentication',
      'GitHub refused the credential; give the project a valid token, or set a valid GITHUB_TOKEN.',
    );
  if (status === 403) {
    return new ForgeError(
      'authentication',
      'The GitHub credential may not do this; it needs to read and write contents and pull requests.',
    );
  }
  if (status === 404 || status === 410) {
    return new ForgeError('not-found', 'GitHub has no such repository, or the credential may not see it.');
  }
  if (status >= 500 || status === 408) {
    return new ForgeError('unavailable', `GitHub answered ${status}.`, waitOptions(failure));
  }
  return new ForgeError('rejected', refusalOf(failure));
}

function refusalOf({ status, response }: Failure): string {
  const errors = response?.data.errors ?? [];
  if (errors.some(({ message }) => /no commits between/i.test(message))) {
    return 'GitHub refused the pull request: the branch holds no change against its base.';
  }
  if (errors.some(({ field }) => field === 'base'))
    return 'GitHub refused the pull request: its base branch does not exist.';
  if (errors.some(({ field }) => field === 'head'))
    return 'GitHub refused the pull request: its branch does not exist.';
  if (errors.some(({ message }) => /draft/i.test(message)) || /draft/i.test(response?.data.message ?? '')) {
    return 'GitHub refused the pull request: this repository has no draft pull requests.';
  }
  return `GitHub refused the request with status ${status}.`;
}

function isRateLimit({ status, response }: Failure): boolean {
  if (status === 429) return true;
  if (status !== 403 || response === null || response === undefined) return false;
  const { headers, data } = response;
  if (headers['retry-after'] !== undefined || String(headers['x-ratelimit-remaining']) === '0') return true;
  return /secondary-rate-limits/.test(data.documentation_url) || /rate limit/i.test(data.message);
}

function waitOptions(failure: Failure): { retryAfterMs?: number } {
  const retryAfterMs = waitOf(failure);
  return retryAfterMs === null ? {} : { retryAfterMs };
}

/** Measured on the server's clock where its answer tells the time. */
function waitOf({ response }: Failure): number | null {
  const headers = response?.headers ?? {};
  const nowMs = Date.parse(String(headers['date'])) || Date.now();
  const retryAfter = headers['retry-after'];
  if (retryAfter !== undefined) {
    const seconds = Number(retryAfter);
    const waitMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(String(retryAfter)) - nowMs;
    if (Number.isFinite(waitMs)) return Math.max(waitMs, 1000);
  }
  const resetSeconds = Number(headers['x-ratelimit-reset']);
  if (String(headers['x-ratelimit-remaining']) !== '0' || !Number.isFinite(resetSeconds)) return null;
  return Math.max(resetSeconds * 1000 - nowMs, 1000);
}
