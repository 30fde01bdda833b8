import { z } from 'zod';
import { failureOfAnswer } from './forge-failure.ts';
import { leadsToPrivateAddress } from './forge-http.ts';
import { ForgeError } from './forge.ts';
import { PrivateAddressError } from '../../lib/network/public-lookup.ts';

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

const forge = 'GitHub';

/** Converts an error of Octokit. The result contains nothing of the request. */
export function githubFailureOf(error: unknown, signal: AbortSignal): ForgeError {
  if (error instanceof ForgeError) return error;
  if (signal.aborted) return new ForgeError('aborted', 'The request to GitHub was stopped.');
  if (error instanceof Error && error.cause instanceof PrivateAddressError) return leadsToPrivateAddress(forge);
  const parsed = failureSchema.safeParse(error);
  const failure = parsed.success ? parsed.data : null;
  if (failure === null || failure.response === null || failure.response === undefined) {
    return new ForgeError('unavailable', 'GitHub could not be reached.');
  }
  const { status, response } = failure;
  const { message, documentation_url: documentation } = response.data;
  const reason = /secondary-rate-limits/.test(documentation) ? 'rate limit' : message;
  const failed = failureOfAnswer({ forge, status, headers: response.headers, message: reason });
  return failed.kind === 'rejected' ? new ForgeError('rejected', refusalOf(failure) ?? failed.message) : failed;
}

/** Converts an error of Octokit at a merge. */
export function mergeFailureOf(error: unknown, signal: AbortSignal): ForgeError {
  const failed = githubFailureOf(error, signal);
  if (failed.kind !== 'rejected') return failed;
  const message = failureSchema.safeParse(error).data?.response?.data.message ?? '';
  if (/merges? (?:commits )?are not allowed/i.test(message))
    return new ForgeError(
      'rejected',
      'The repository does not allow this merge method on GitHub. Choose the other one.',
    );
  return new ForgeError('rejected', 'GitHub refused the merge. The pull request on GitHub shows why.');
}

/** Reports whether GitHub refused a pull request because the branch already has one. */
export function isAlreadyExists(error: unknown): boolean {
  const parsed = failureSchema.safeParse(error);
  if (!parsed.success) return false;
  const { status, response } = parsed.data;
  if (status === 409) return true;
  return status === 422 && (response?.data.errors ?? []).some(({ message }) => /already exists/i.test(message));
}

/** Reports whether GitHub refused a draft because the repository's plan does not include drafts. */
export function isWithoutDrafts(error: unknown): boolean {
  const parsed = failureSchema.safeParse(error);
  if (!parsed.success || parsed.data.status !== 422) return false;
  const { message = '', errors = [] } = parsed.data.response?.data ?? {};
  return [message, ...errors.map((one) => one.message)].some((text) => /draft/i.test(text));
}

/** Reports whether GitHub refused what was asked for, such as a permission that an App does not have. */
export function isUnprocessable(error: unknown): boolean {
  return failureSchema.safeParse(error).data?.status === 422;
}

function refusalOf({ response }: Failure): string | null {
  const errors = response?.data.errors ?? [];
  if (errors.some(({ message }) => /no commits between/i.test(message))) {
    return 'GitHub rejected the pull request: the branch has no changes against its base.';
  }
  if (errors.some(({ field }) => field === 'base'))
    return 'GitHub rejected the pull request: its base branch does not exist.';
  if (errors.some(({ field }) => field === 'head'))
    return 'GitHub rejected the pull request: its branch does not exist.';
  return null;
}
