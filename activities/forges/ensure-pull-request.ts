import { ForgeError, type EnsuredPullRequest, type Marks, type PullRequest, type PullRequestDraft } from './forge.ts';

/** A pull request as it stands on the forge; its title is without the prefix that marks a draft. */
export interface FoundPullRequest extends PullRequest {
  title: string;
  body: string;
}

/** The requests of one forge. Errors: ForgeError. */
export interface PullRequestRequests {
  /** The name of the forge, for the sentence. */
  forge: string;
  /** The pull request of the branch, an open one first; null: there is none. */
  find(draft: PullRequestDraft): Promise<FoundPullRequest | null>;
  /** Null: the forge says that there is one for this branch already. */
  create(draft: PullRequestDraft): Promise<FoundPullRequest | null>;
  update(found: FoundPullRequest, draft: PullRequestDraft): Promise<FoundPullRequest>;
  /** Adds marks; answers a sentence for each that was not taken. Safe to repeat. */
  mark(made: PullRequest, marks: Marks, draft: PullRequestDraft): Promise<string[]>;
}

/** Brings the pull request of a branch into being, or up to date, exactly once. */
export async function ensurePullRequest(
  requests: PullRequestRequests,
  draft: PullRequestDraft & { beforeEffect(): Promise<void> },
): Promise<EnsuredPullRequest> {
  const { id, url, state, draft: isDraft } = await ensured(requests, draft);
  const made = { id, url, state, draft: isDraft };
  const { marks } = draft;
  if (state !== 'open' || marks === null || isEmpty(marks)) return { ...made, notes: [] };
  await draft.beforeEffect();
  return { ...made, notes: await requests.mark(made, marks, draft) };
}

async function ensured(
  requests: PullRequestRequests,
  draft: PullRequestDraft & { beforeEffect(): Promise<void> },
): Promise<FoundPullRequest> {
  const existing = await requests.find(draft);
  if (existing !== null) return updated(requests, existing, draft);
  await draft.beforeEffect();
  const made = await requests.create(draft);
  if (made !== null) return made;
  const other = await requests.find(draft);
  if (other !== null) return updated(requests, other, draft);
  // Its list may lag behind what it refuses: another attempt finds it
  throw new ForgeError('unavailable', `${requests.forge} has a pull request for the branch but does not list it yet.`);
}

async function updated(
  requests: PullRequestRequests,
  existing: FoundPullRequest,
  draft: PullRequestDraft & { beforeEffect(): Promise<void> },
): Promise<FoundPullRequest> {
  if (existing.title === draft.title && existing.body === draft.body) return existing;
  await draft.beforeEffect();
  return requests.update(existing, draft);
}

function isEmpty({ reviewers, labels, assignees }: Marks): boolean {
  return reviewers.length + labels.length + assignees.length === 0;
}

/**
 * Runs the request of one mark. What the forge refuses costs the mark and not the job; an outage or a limit is thrown, so
 * that another attempt asks again.
 */
export async function tryMark(sentence: string, ask: () => Promise<unknown>): Promise<string[]> {
  try {
    await ask();
    return [];
  } catch (error) {
    const isRefusal = error instanceof ForgeError && ['rejected', 'authentication', 'not-found'].includes(error.kind);
    if (!isRefusal) throw error;
    return [sentence];
  }
}
