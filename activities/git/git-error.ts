import type { TransferLimits } from './transfer-limits.ts';

/** The kinds of failure that callers tell apart, derived from git's exit code and its messages. */
export type GitErrorKind =
  | 'unreachable'
  | 'not-found'
  | 'authentication'
  | 'ref-not-found'
  | 'rejected'
  | 'stale'
  | 'too-large'
  | 'out-of-memory'
  | 'disk-full'
  | 'corrupt'
  | 'timeout'
  | 'aborted'
  | 'other';

const sentences: Record<GitErrorKind, string> = {
  unreachable: "The repository's server did not respond to git.",
  'not-found': 'The repository does not exist, or the credential cannot see it.',
  authentication: "The repository's server rejected the credential.",
  'ref-not-found': 'The branch or commit does not exist in the repository.',
  rejected: "The repository's server rejected the push.",
  stale: 'The branch has commits that this job did not make, so it was left unchanged.',
  'too-large': 'The repository is larger than this worker allows.',
  'out-of-memory':
    "git needs more memory for the repository than its limit. To allow it, raise the worker's DOCKET_GIT_MEMORY_MB.",
  'disk-full': "The worker's disk is full.",
  corrupt: "The worker's copy of the repository is damaged.",
  timeout: 'git did not finish in time.',
  aborted: 'git was stopped.',
  other: 'git failed.',
};

/** A failed git command. The message is a fixed sentence: it never quotes git, a URL or a secret. */
export class GitError extends Error {
  override name = 'GitError';
  readonly kind: GitErrorKind;
  /** The redacted end of git's stderr, for the worker's own log and never for a client. */
  readonly detail: string;

  constructor(kind: GitErrorKind, options: { message?: string; detail?: string; cause?: unknown } = {}) {
    super(options.message ?? sentences[kind], { cause: options.cause });
    this.kind = kind;
    this.detail = options.detail ?? '';
  }
}

/** Returns the failure of a fetch or push that exceeded its time limit. */
export function transferTimedOut({ timeoutMs }: TransferLimits): GitError {
  const minutes = Math.round(timeoutMs / 60_000);
  return new GitError('timeout', {
    message: `Fetching or pushing took longer than ${minutes} minutes. To allow more, raise the worker's DOCKET_CLONE_MINUTES.`,
  });
}

/** Returns the failure of a command whose output exceeded the limit. */
export function outputTooLarge(): GitError {
  const message = 'The list of files in the repository or change is larger than 64 MB. Change fewer files at once.';
  return new GitError('too-large', { message });
}

/** Returns the failure of a fetch that exceeded its size limit. */
export function transferTooLarge({ bytes }: TransferLimits, { detail }: GitError): GitError {
  const megabytes = Math.floor(bytes / 1e6);
  return new GitError('too-large', {
    message: `The repository is larger than ${megabytes} MB. To allow it, raise the worker's DOCKET_REPOSITORY_MB.`,
    detail,
  });
}

/** Returns the failure of a command for which git could not be started. */
export function cannotStart(cause?: unknown): GitError {
  return new GitError('other', { message: 'git could not be started; install it on the worker.', cause });
}
