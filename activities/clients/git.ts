/** A credential for git over HTTPS; it travels on a file descriptor and only to `origin`. */
export interface GitCredential {
  username: string;
  /** Called at each use, so that a token can be refreshed. */
  token(): Promise<string>;
  /** The origin it belongs to, e.g. `https://github.com`. */
  origin: string;
}

/** git ended with an error. `kind` is read from exit codes and machine-readable output; `message` is a fixed, scrubbed sentence. */
export type GitErrorKind =
  | 'unreachable'
  | 'not-found'
  | 'authentication'
  | 'ref-not-found'
  | 'rejected'
  | 'stale'
  | 'disk-full'
  | 'corrupt'
  | 'timeout'
  | 'aborted'
  | 'other';
