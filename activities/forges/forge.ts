import type { ForgeKind } from '../../db/organizations/projects.ts';
import type { GitCredential } from '../git/git-credential.ts';
import type { ForgeApi } from './forge-api.ts';
import type { Merging } from './merge-pull-request.ts';

export interface PullRequest {
  /** The forge's id: a number within the repository, or `pr_…` on the local forge. */
  id: string;
  url: string;
  state: 'open' | 'closed' | 'merged';
  draft: boolean;
}

/** Reviewers, labels and assignees of a pull request, as logins and label names. */
export interface Marks {
  reviewers: readonly string[];
  labels: readonly string[];
  assignees: readonly string[];
}

export interface PullRequestText {
  title: string;
  /** Markdown. */
  body: string;
}

export interface PullRequestDraft extends PullRequestText {
  repository: string;
  head: string;
  base: string;
  /**
   * Texts of which one is what Docket wrote last. A title or body that equals none of them was written by people and stays.
   * If there are none, both are replaced.
   */
  previous: readonly PullRequestText[];
  /** Creates the pull request as a draft. An existing one is unchanged, because a person decides when it is ready. */
  draft: boolean;
  /** Marks to add; null leaves the existing marks, which people may have changed. */
  marks: Marks | null;
  signal: AbortSignal;
}

/** A pull request on a forge, by its id there. */
export interface PullRequestAddress {
  repository: string;
  id: string;
  signal: AbortSignal;
}

export interface EnsuredPullRequest extends PullRequest {
  /** One sentence for each mark that the forge did not accept. */
  notes: string[];
}

/** A host of pull requests. Errors: ForgeError. */
export interface Forge {
  /** Returns the credential for git; null when none is needed. */
  credential(repository: string): GitCredential | null;
  /**
   * Finds the pull request of the branch (any state) or creates it; adopts "already exists". An existing one gets the new
   * title and body where people have not changed them. `beforeEffect` runs immediately before each writing request and may
   * throw.
   */
  ensurePullRequest(draft: PullRequestDraft & { beforeEffect(): Promise<void> }): Promise<EnsuredPullRequest>;
  /** Returns the current state of a pull request. */
  pullRequestState(pullRequest: PullRequestAddress): Promise<Pick<PullRequest, 'state' | 'draft'>>;
  /** Absent on the local forge, whose branches git merges. */
  merging?: Merging;
  /** Revokes the tokens minted for this forge; absent when none are. Throws the errors of the vendor's client. */
  revoke?(signal: AbortSignal): Promise<void>;
}

/** A project's settings for its forge. */
export interface ForgeProject {
  forge: ForgeKind;
  /** Web address of the server; null for the one that hosts the repository. */
  forgeUrl: string | null;
  repository: string;
  mayChangeWorkflows?: boolean;
}

/** The token, job and repository that a forge is used for. */
interface ForgeUse {
  token?: string | null;
  jobId?: string | null;
  /** The repository to work on; the project's by default. */
  repository?: string;
  /** Returns why the worker's own credential must not be used for an address on its server; null when it may be. */
  refusal(target: string): string | null;
}

export interface Forges {
  /**
   * Returns the forge of a project with the project's own `token`, or else with the worker's credential unless that is
   * refused for the repository. A GitHub App issues separate tokens for each job (`jobId`). Throws ForgeError when
   * there is no credential.
   */
  forProject(project: ForgeProject, use: ForgeUse): Forge;
  /** Returns the worker's credential for reading a repository without a project; null when it has none. */
  credentialOf(repository: string, use: Pick<ForgeUse, 'refusal'>): GitCredential | null;
  /**
   * Returns the API of the server of a repository, by the worker's settings, a project of the repository or a well-known
   * host. Null when the server is not known. Throws ForgeError.
   */
  apiOf(repository: string, use: { project: ForgeProject | null; credential: GitCredential | null }): ForgeApi | null;
  /**
   * Revokes the tokens minted for jobs that have ended. Each is tried only once, because tokens also expire. Returns
   * the number of jobs, and for how many of them revoking failed.
   */
  revokeEnded(endedOf: EndedJobs): Promise<{ jobs: number; failed: number }>;
}

/** Returns the ended jobs among the given ones. */
type EndedJobs = (jobIds: string[]) => Promise<string[]>;

export type ForgeErrorKind = 'authentication' | 'not-found' | 'rejected' | 'rate-limited' | 'unavailable' | 'aborted';

/** The forge refused a request or did not respond. The message is a fixed sentence without secrets. */
export class ForgeError extends Error {
  override name = 'ForgeError';
  readonly kind: ForgeErrorKind;
  /** From the Retry-After or rate limit headers. */
  readonly retryAfterMs: number | null;

  constructor(kind: ForgeErrorKind, message: string, options: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
