import type { ForgeKind } from '../../db/projects.ts';
import type { GitCredential } from './git.ts';

export interface PullRequest {
  /** The forge's own id: a number on GitHub, `pr_…` on the local forge. */
  id: string;
  url: string;
  state: 'open' | 'closed' | 'merged';
}

export interface PullRequestDraft {
  repository: string;
  head: string;
  base: string;
  title: string;
  body: string;
  draft: boolean;
  signal: AbortSignal;
}

/** Where pull requests live. Errors: ForgeError. */
export interface Forge {
  /** The credential for git, null where none is needed. */
  credential(repository: string): GitCredential | null;
  /**
   * Finds the pull request of the branch (any state) or creates it; adopts "already exists". An existing one gets the new
   * title and body. `beforeEffect` runs immediately before each writing request and may throw.
   */
  ensurePullRequest(draft: PullRequestDraft & { beforeEffect(): Promise<void> }): Promise<PullRequest>;
  /** How a pull request stands by now. */
  pullRequestState(pullRequest: { repository: string; id: string; signal: AbortSignal }): Promise<PullRequest['state']>;
}

export interface Forges {
  /** The forge of a project, used with `token` before the worker's own. Throws ForgeError when there is neither. */
  forKind(kind: ForgeKind, token?: string | null): Forge;
}

export type ForgeErrorKind = 'authentication' | 'not-found' | 'rejected' | 'rate-limited' | 'unavailable' | 'aborted';

/** The forge refused or did not answer; `message` is a fixed sentence without secrets. */
export class ForgeError extends Error {
  override name = 'ForgeError';
  readonly kind: ForgeErrorKind;
  /** From Retry-After or x-ratelimit-reset. */
  readonly retryAfterMs: number | null;

  constructor(kind: ForgeErrorKind, message: string, options: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
