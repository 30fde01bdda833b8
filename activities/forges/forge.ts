import type { ForgeKind } from '../../db/organizations/projects.ts';
import type { GitCredential } from '../git/git.ts';

export interface PullRequest {
  /** The forge's own id: a number within the repository, `pr_…` on the local forge. */
  id: string;
  url: string;
  state: 'open' | 'closed' | 'merged';
  draft: boolean;
}

/** Who and what a pull request is marked with: logins and names of labels. */
export interface Marks {
  reviewers: readonly string[];
  labels: readonly string[];
  assignees: readonly string[];
}

export interface PullRequestDraft {
  repository: string;
  head: string;
  base: string;
  title: string;
  body: string;
  /** Asks for a draft where one is made. An existing pull request stays what it is: a person says when it is ready. */
  draft: boolean;
  /** Added to the pull request; null leaves what people have made of them since. */
  marks: Marks | null;
  signal: AbortSignal;
}

export interface EnsuredPullRequest extends PullRequest {
  /** One sentence for each mark that the forge did not take. */
  notes: string[];
}

/** Where pull requests live. Errors: ForgeError. */
export interface Forge {
  /** The credential for git, null where none is needed. */
  credential(repository: string): GitCredential | null;
  /**
   * Finds the pull request of the branch (any state) or creates it; adopts "already exists". An existing one gets the new
   * title and body. `beforeEffect` runs immediately before each writing request and may throw.
   */
  ensurePullRequest(draft: PullRequestDraft & { beforeEffect(): Promise<void> }): Promise<EnsuredPullRequest>;
  /** How a pull request stands by now. */
  pullRequestState(pullRequest: {
    repository: string;
    id: string;
    signal: AbortSignal;
  }): Promise<Pick<PullRequest, 'state' | 'draft'>>;
  /** Gives back the tokens that were minted for it; absent where none are. Errors: as the vendor's client throws them. */
  revoke?(signal: AbortSignal): Promise<void>;
}

/** What a project says about its forge. */
export interface ForgeProject {
  forge: ForgeKind;
  /** The address people reach the server at; null: where the repository lies. */
  forgeUrl: string | null;
  repository: string;
}

/** Who asks for a forge, and what for. */
export interface ForgeUse {
  token?: string | null;
  jobId?: string | null;
  /** The one that is worked on; the project's own unless it is given. */
  repository?: string;
  /** Why the worker's own credential must not be used for what lies at an address of its server; null: it may be. */
  refusal(target: string): string | null;
}

export interface Forges {
  /**
   * The forge of a project, with the project's own `token` where it has one and the worker's otherwise, unless that is refused
   * for the repository; a GitHub App gives each job (`jobId`) tokens of its own. Throws ForgeError when there is neither.
   */
  forProject(project: ForgeProject, use: ForgeUse): Forge;
  /** What the worker reads a repository with that belongs to no project; null: nothing, which will do for a public one. */
  credentialOf(repository: string, use: Pick<ForgeUse, 'refusal'>): GitCredential | null;
  /**
   * Gives back the tokens that were minted for jobs which have ended, each once, whether or not the forge takes them: they run
   * out by themselves. Answers for how many jobs, and how many of those the forge did not hear.
   */
  revokeEnded(endedOf: EndedJobs): Promise<{ jobs: number; failed: number }>;
}

/** Which of these jobs have ended. */
export type EndedJobs = (jobIds: string[]) => Promise<string[]>;

export type ForgeErrorKind = 'authentication' | 'not-found' | 'rejected' | 'rate-limited' | 'unavailable' | 'aborted';

/** The forge refused or did not answer; `message` is a fixed sentence without secrets. */
export class ForgeError extends Error {
  override name = 'ForgeError';
  readonly kind: ForgeErrorKind;
  /** From Retry-After or the headers of a rate limit. */
  readonly retryAfterMs: number | null;

  constructor(kind: ForgeErrorKind, message: string, options: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
