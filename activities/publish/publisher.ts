import { ApplicationFailure } from '@temporalio/activity';
import { z } from 'zod';
import type { WorkerJobStore } from '../../db/for-worker/jobs.ts';
import type { JobBranchStore } from '../../db/for-worker/job-branches.ts';
import type { JobContextStore } from '../../db/for-worker/job-context.ts';
import type { EffectStore } from '../../db/for-worker/effects.ts';
import type { Snapshot } from '../../db/for-worker/snapshots.ts';
import type { StepStore } from '../../db/for-worker/steps.ts';
import type { JobCheck } from '../../db/jobs/agent-job.ts';
import type { WorkedTurn } from '../../workflows/contract/job.ts';
import { FailureType } from '../../workflows/contract/failures.ts';
import { takenOver } from '../attempt.ts';
import { checkOf, type CheckReport } from '../tools/check-report.ts';
import { isReviewed } from '../tools/self-review.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import type { JobWithProject } from '../job/granted-access.ts';
import { publishedOf } from '../job/follow-up.ts';
import { baseOf, type JobAccess } from '../job/job-access.ts';
import { createChangeCheck } from './check-change.ts';
import { inactiveWords } from './inactive-text.ts';
import { bodyOf, branchOf, commitMessageOf, incompleteOf, titleOf } from './pull-request-text.ts';
import type { ChangeText, Summary } from './pull-request-text.ts';
import { readSummary, treeToPublish, type TurnSummary } from './read-summary.ts';
import { readPullRequestTemplate } from './pull-request-template.ts';
import { turnEnded } from '../job/turn-watch.ts';
import { readWrittenTexts } from './written-texts.ts';
import type { RepositoryAccess } from '../git/remote.ts';
import { isOver, refreshState } from './pull-request-state.ts';

export interface PublisherDeps {
  jobs: Pick<WorkerJobStore, 'setPhase' | 'setSummary' | 'setPublished' | 'publishedText' | 'prompts'>;
  steps: Pick<StepStore, 'lastAnswered' | 'listBetween' | 'latestTree' | 'snapshot'>;
  effects: EffectStore;
  context: Pick<JobContextStore, 'notes'>;
  /** Whether agents review their change unless the project says otherwise. */
  selfReview: boolean;
  branches: Pick<JobBranchStore, 'adopt' | 'restoreTree' | 'setPullRequestState'>;
  access: JobAccess;
  workspaces: Pick<Workspaces, 'publish' | 'withdraw' | 'readFirst' | 'hasBranch'>;
  redact(text: string): string;
}

interface TurnText extends ChangeText {
  /** Title of the pull request; `title` is that of the turn's commit. */
  jobTitle: string;
  /** A sentence that says what is incomplete; null if nothing is. */
  incomplete: string | null;
}

type PushedTree = z.infer<typeof pushResultSchema>;

interface Publication extends Work {
  text: TurnText;
  report: CheckReport;
  branch: string;
  snapshot: Snapshot;
}

const author = { name: 'Docket', email: 'docket@noreply.invalid' };
const withdrawTimeoutMs = 15_000;
/** Results that were stored before this field existed have no `branch`: it was that of the turn. */
const pushResultSchema = z.object({ commit: z.string(), tree: z.string(), branch: z.string().optional() });

/** Work that a turn may publish. `stopped` is why the agent did not finish; the work then becomes a draft that says so. */
interface Work {
  ref: WorkedTurn;
  job: JobWithProject;
  stopped: string | null;
  signal: AbortSignal;
}

export interface PublishedWork {
  /** Title and message from the agent; null when it provided none. */
  summary: Summary;
  /** Null when there is nothing to publish. */
  prLink: string | null;
  /** Whether the pull request contains a change from this turn. */
  isChanged: boolean;
}

export type Publisher = (work: Work) => Promise<PublishedWork>;

/**
 * Creates the publisher, which brings a job's tree to its branch and pull request. Safe to run twice: branch,
 * commit and pull request derive from the job and its tree, and a superseded attempt is stopped before each effect.
 */
export function createPublisher(deps: PublisherDeps): Publisher {
  const { jobs, steps, effects, context, branches, access, workspaces, redact } = deps;

  return async function publishWork(work) {
    const { ref, job } = work;
    await jobs.setPhase({ ...ref, phase: 'publishing' });
    const isFinished = work.stopped === null;
    const given = await readSummary(deps, ref, { isReviewWanted: isFinished && isReviewed(job, deps.selfReview) });
    const tree = await treeToPublish(deps, ref, isFinished ? given.cutReview : undefined);
    const isPublished = tree !== null && tree === job.headTree && job.mergedFrom === null && job.prLink !== null;
    const snapshot = tree === null || isPublished ? null : await steps.snapshot(job.id, tree);
    if (snapshot === null || (snapshot.changedFiles === 0 && job.headTree === null)) {
      const { summary } = await describeChange(work, given, isPublished ? job.check : null);
      return { summary, prLink: isPublished && !isOver(job) ? job.prLink : null, isChanged: false };
    }
    const { checkCommand: command } = await access.projectOf(job);
    const report = await checkOf({ effects, context }, { ref, tree: snapshot.tree, command });
    const refreshed = await refreshState(deps, work);
    const current = { ...work, job: { ...job, ...refreshed } };
    const { summary, text } = await describeChange(current, given, report.check);
    const branch = job.branch !== null && !isOver(current.job) ? job.branch : branchOf(ref, text.title);
    return { summary, prLink: await publishChange({ ...current, text, report, branch, snapshot }), isChanged: true };
  };

  /** Stores the agent's text first, so that every attempt uses the same one. */
  async function describeChange(
    { ref, job, stopped }: Work,
    given: TurnSummary,
    check: JobCheck | null,
  ): Promise<{ summary: Summary; text: TurnText }> {
    // text from a stopped agent's unfinished work is not a summary
    const summary = stopped !== null && given.title === null ? { ...given, title: null, message: '' } : given;
    const asked = await jobs.prompts(ref.jobId, ref.turn);
    const prompts = asked.map(({ turn, prompt }) => ({ turn, prompt: redact(prompt) }));
    const title = titleOf(redact(summary.title ?? prompts.find(({ turn }) => turn === ref.turn)?.prompt ?? ''));
    const message = redact(summary.message);
    const reason = stopped ?? (summary.isComplete ? null : leftUndone);
    const unfinished = reason === null ? null : redact(reason);
    const incomplete = incompleteOf(unfinished, check);
    // a pull request keeps its original title
    const jobTitle = job.prId !== null && job.title !== null && !isOver(job) ? job.title : title;
    await jobs.setSummary({ ...ref, title: jobTitle, message, incomplete });
    const texts = prompts.map(({ prompt }) => prompt);
    return {
      summary,
      text: {
        jobId: job.id,
        title,
        jobTitle,
        prompts: texts,
        message,
        findings: redact(summary.findings ?? ''),
        unfinished,
        incomplete,
        model: redact(given.model ?? job.model),
      },
    };
  }

  async function publishChange(publication: Publication): Promise<string> {
    const { ref, branch, text, report } = publication;
    const { pushed, pullRequest, prText } = await pushAndOpen(publication);
    const { commit, tree } = pushed;
    const { id, url, state, draft, notes } = pullRequest;
    const message = redact([text.message, ...notes].filter((part) => part !== '').join('\n\n'));
    const { jobTitle: title, incomplete } = text;
    if (notes.length > 0) await jobs.setSummary({ ...ref, title, message, incomplete });
    const stored = {
      branch,
      headCommit: commit,
      headTree: tree,
      prId: id,
      prLink: url,
      prState: state,
      prDraft: draft,
      prText,
    };
    if (!(await jobs.setPublished({ ...ref, ...stored, check: report.check }))) throw turnEnded();
    return url;
  }

  async function pushAndOpen(publication: Publication) {
    let fence = 0;
    let isOpening = false;
    try {
      const pushed = await push(publication);
      ({ fence } = await effects.claim({ ...publication.ref, effect: 'pull-request' }));
      const opened = await openPullRequest(publication, { fence, onOpening: () => (isOpening = true) });
      return { pushed, ...opened };
    } catch (error) {
      // if the withdrawal fails, the branch remains without a pull request
      if (!isOpening) await withdraw(publication, fence).catch(() => undefined);
      throw error;
    }
  }

  /**
   * Removes the branch of a turn that was cancelled during its first push, unless another attempt claimed the pull
   * request and so may have opened it. `fence` is this attempt's, 0 before its claim.
   */
  async function withdraw({ ref, job, text, branch, snapshot }: Publication, fence: number): Promise<void> {
    if (fence > 1 || branch === job.branch || (await access.isActive(ref))) return;
    if ((await effects.claim({ ...ref, effect: 'pull-request' })).fence !== fence + 1) return;
    await workspaces.withdraw({
      ...(await access.repositoryOf(job, AbortSignal.timeout(withdrawTimeoutMs))),
      ...changeOf({ job, text, branch, snapshot }),
    });
  }

  function changeOf({ job, text, branch, snapshot }: Pick<Publication, 'job' | 'text' | 'branch' | 'snapshot'>) {
    return {
      jobId: job.id,
      branch,
      baseCommit: baseOf(job).commit,
      snapshot,
      message: commitMessageOf(text),
      author: { ...author, date: job.createdAt },
    };
  }

  async function push({ ref, job, text, branch, snapshot, signal }: Publication): Promise<PushedTree> {
    const effect = { ...ref, effect: 'push' };
    const { fence, result } = await effects.claim(effect);
    const pushed = pushResultSchema.safeParse(result);
    const { tree: pushedTree, branch: pushedTo = branch } = pushed.data ?? {};
    // `tree` is the working copy's tree from then on
    if (pushed.success && pushedTree === snapshot.tree && pushedTo === branch) return pushed.data;
    const publication = await workspaces.publish({
      ...(await access.repositoryOf(job, signal)),
      ...changeOf({ job, text, branch, snapshot }),
      published: await publishedOf(steps, job),
      isFurther: branch === job.branch,
      checkPaths: createChangeCheck(await access.projectOf(job), { snapshot, redact }),
      mergedFrom: job.mergedFrom,
      beforePush: () => mayAct({ ...effect, fence }, { job, signal }),
    });
    const done = { commit: publication.commit, tree: publication.snapshot.tree, branch };
    const adopted = { tree: done.tree, snapshot: publication.snapshot };
    if (!(await branches.adopt({ ...effect, fence, branch: adopted, result: done }))) throw takenOver();
    return done;
  }

  async function openPullRequest(
    { ref, job, text, report, branch, signal }: Publication,
    { fence, onOpening }: { fence: number; onOpening(): void },
  ) {
    const effect = { ...ref, effect: 'pull-request' };
    const forge = await access.forgeOf(job);
    const { reviewers, labels, assignees, ...project } = await access.projectOf(job);
    const base = baseOf(job);
    const checkout = { access: await access.repositoryOf(job, signal), commit: base.commit, forge: project.forge };
    const isFirst = job.prId === null || isOver(job);
    if (isFirst) await checkBase(checkout.access, { base: base.branch, branch });
    const template = await readPullRequestTemplate(workspaces, checkout);
    const prText = {
      title: inactiveWords(text.jobTitle),
      body: bodyOf({
        ...text,
        checked: report.text === null ? null : redact(report.text),
        template: template === null ? null : redact(template),
      }),
    };
    const pullRequest = await forge.ensurePullRequest({
      repository: job.repository,
      head: branch,
      base: base.branch,
      ...prText,
      previous: isFirst ? [] : await readWrittenTexts(deps, effect),
      draft: job.draft || text.incomplete !== null,
      // users may have changed them since
      marks: isFirst ? { reviewers, labels, assignees } : null,
      signal,
      async beforeEffect() {
        await mayAct({ ...effect, fence }, { job, signal });
        if (!(await effects.storeResult({ ...effect, fence, result: prText }))) throw takenOver();
        onOpening();
      },
    });
    return { pullRequest, prText };
  }

  /**
   * Checks the base branch, which may have been deleted while the job ran. Not every forge refuses a pull request onto
   * a missing branch.
   */
  async function checkBase(repository: RepositoryAccess, { base, branch }: { base: string; branch: string }) {
    if (await workspaces.hasBranch({ ...repository, branch: base })) return;
    const sentence = `The base branch ${base} was deleted, so no pull request was opened. Restore it and send a follow-up message; the change is on ${branch}.`;
    throw ApplicationFailure.nonRetryable(redact(sentence), FailureType.RefNotFound);
  }

  /** Checks that turn and grant still hold: a worker that was cut off from Temporal can still reach the forge. */
  async function mayAct(effect: Parameters<EffectStore['holds']>[0], { job, signal }: Pick<Work, 'job' | 'signal'>) {
    if (!(await access.isActive(effect))) throw turnEnded();
    await access.repositoryOf(job, signal);
    if (!(await effects.holds(effect))) throw takenOver();
  }
}

const leftUndone = 'The agent reports that part of the task is not done.';
