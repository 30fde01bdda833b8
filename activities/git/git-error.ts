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
