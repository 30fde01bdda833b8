import {
  ForgeError,
  type EnsuredPullRequest,
  type Marks,
  type PullRequest,
  type PullRequestDraft,
  type PullRequestText,
} from './forge.ts';

/** A pull request on the forge. Its title does not include the prefix that marks a draft. */
export interface FoundPullRequest extends PullRequest, PullRequestText {}

/** The pull request operations of one forge. Errors: ForgeError. */
export interface PullRequestRequests {
  /** Name of the forge, for error messages. */
  forge: string;
  /** Finds the pull request of the branch, preferring an open one; null when there is none. */
  find(draft: PullRequestDraft): Promise<FoundPullRequest | null>;
  /** Returns null when the forge reports that the branch already has one. */
  create(draft: PullRequestDraft): Promise<FoundPullRequest | null>;
  update(found: FoundPullRequest, draft: PullRequestDraft): Promise<FoundPullRequest>;
  /** Adds reviewers, labels or assignees, and returns a sentence about names unknown to the forge. Idempotent. */
  mark(made: PullRequest, marks: MarksOfKind, draft: PullRequestDraft): Promise<string[]>;
  /** Whether a request replaces earlier reviewers. Otherwise they are added one by one, so that one refusal affects one. */
  takesReviewersTogether: boolean;
}

/** One or more marks of one kind. */
export interface MarksOfKind {
  kind: keyof Marks;
  names: string[];
}

/** Ensures that a branch has exactly one pull request, with this title and body where people have not changed them. */
export async function ensurePullRequest(
  requests: PullRequestRequests,
  draft: PullRequestDraft & { beforeEffect(): Promise<void> },
): Promise<EnsuredPullRequest> {
  const { id, url, state, draft: isDraft } = await ensured(requests, draft);
  const made = { id, url, state, draft: isDraft };
  const { marks } = draft;
  const wanted = state !== 'open' || marks === null ? [] : marksToAdd(requests, marks);
  if (wanted.length > 0) await draft.beforeEffect();
  const notes: string[] = [];
  for (const some of wanted) notes.push(...(await tryMark(requests, some, () => requests.mark(made, some, draft))));
  return { ...made, notes };
}

function marksToAdd({ takesReviewersTogether }: PullRequestRequests, marks: Marks): MarksOfKind[] {
  const kinds = (['labels', 'assignees', 'reviewers'] as const).flatMap((kind) => {
    const names = [...marks[kind]];
    return kind !== 'reviewers' || takesReviewersTogether
      ? [{ kind, names }]
      : names.map((name) => ({ kind, names: [name] }));
  });
  return kinds.filter(({ names }) => names.length > 0);
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
  // the list may lag behind the refusal; a later attempt finds it
  throw new ForgeError('unavailable', `${requests.forge} has a pull request for the branch but does not list it yet.`);
}

async function updated(
  requests: PullRequestRequests,
  existing: FoundPullRequest,
  draft: PullRequestDraft & { beforeEffect(): Promise<void> },
): Promise<FoundPullRequest> {
  const text = nextText(existing, draft);
  if (text === null) return existing;
  await draft.beforeEffect();
  return requests.update(existing, { ...draft, ...text });
}

/** Returns the new title and body of a pull request; null if neither changes. */
export function nextText(
  existing: PullRequestText,
  { previous, ...draft }: Pick<PullRequestDraft, 'title' | 'body' | 'previous'>,
): PullRequestText | null {
  const next = (part: keyof PullRequestText) => {
    const isOurs = previous.length === 0 || previous.some((text) => isSame(text[part], existing[part]));
    return !isOurs || isSame(draft[part], existing[part]) ? existing[part] : draft[part];
  };
  const text = { title: next('title'), body: next('body') };
  return text.title === existing.title && text.body === existing.body ? null : text;
}

/** Forges trim texts, and a browser's form sends other newlines. */
function isSame(a: string, b: string): boolean {
  const [first, second] = [a, b].map((text) => text.replaceAll('\r\n', '\n').trim());
  return first === second;
}

/**
 * Runs the request for some marks. A refusal by the forge loses the marks, not the job. An outage or a rate limit is
 * thrown, so that the activity retries.
 */
async function tryMark(
  { forge }: PullRequestRequests,
  { kind, names }: MarksOfKind,
  ask: () => Promise<string[]>,
): Promise<string[]> {
  try {
    return await ask();
  } catch (error) {
    const isRefusal = error instanceof ForgeError && ['rejected', 'authentication', 'not-found'].includes(error.kind);
    if (!isRefusal) throw error;
    return [`${forge} did not accept the ${kind} ${names.join(', ')}.`];
  }
}
