import { GitError } from './git-error.ts';

/** Limits of one fetch or push. */
export interface TransferLimits {
  bytes: number;
  timeoutMs: number;
}

/** Limits where the operator has set none. */
export const defaultTransferLimits: TransferLimits = { bytes: 2e9, timeoutMs: 15 * 60_000 };

/** Returns the failure of a fetch or push that exceeded its time limit. */
export function tookTooLong({ timeoutMs }: TransferLimits): GitError {
  const minutes = Math.round(timeoutMs / 60_000);
  return new GitError('timeout', {
    message: `Fetching or pushing took longer than ${minutes} minutes. To allow more, raise the worker's DOCKET_CLONE_MINUTES.`,
  });
}

/** Returns the failure of a command whose output exceeded the limit. */
export function saidTooMuch(): GitError {
  const message = 'The list of files in the repository or change is larger than 64 MB. Change fewer files at once.';
  return new GitError('too-large', { message });
}

/** Returns the failure of a fetch that exceeded its size limit. */
export function broughtTooMuch({ bytes }: TransferLimits, { detail }: GitError): GitError {
  const megabytes = Math.floor(bytes / 1e6);
  return new GitError('too-large', {
    message: `The repository is larger than ${megabytes} MB. To allow it, raise the worker's DOCKET_REPOSITORY_MB.`,
    detail,
  });
}
