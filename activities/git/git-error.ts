/** git ended with an error. `kind` is read from exit codes and machine-readable output; `message` is a fixed, scrubbed sentence. */
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
  unreachable: 'The server of the repository did not answer git.',
  'not-found': 'The repository does not exist, or the credential may not see it.',
  authentication: 'The server of the repository refused the credential.',
  'ref-not-found': 'The branch or commit does not exist in the repository.',
  rejected: 'The server of the repository refused the push.',
  stale: 'The branch holds commits that this job did not make; it was left as it is.',
  'too-large': 'The repository is larger than this worker takes.',
  'out-of-memory':
    'git needs more memory for the repository than it may have; raise DOCKET_GIT_MEMORY_MB of the worker if it is to take it.',
  'disk-full': 'The disk of the worker is full.',
  corrupt: 'The copy of the repository on the worker is damaged.',
  timeout: 'git did not finish in time.',
  aborted: 'git was stopped.',
  other: 'git failed.',
};

/** A failure of git that a caller can tell apart by `kind`; its message never quotes git, a URL or a secret. */
export class GitError extends Error {
  override name = 'GitError';
  readonly kind: GitErrorKind;
  /** The end of what git said, scrubbed: for the worker's own log, never for a client. */
  readonly detail: string;

  constructor(kind: GitErrorKind, options: { message?: string; detail?: string; cause?: unknown } = {}) {
    super(options.message ?? sentences[kind], { cause: options.cause });
    this.kind = kind;
    this.detail = options.detail ?? '';
  }
}
