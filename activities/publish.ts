import { ApplicationFailure } from '@temporalio/activity';
import { z } from 'zod';
import type { JobRow, JobStore } from '../db/jobs.ts';
import type { JobBranchStore } from '../db/job-branches.ts';
import type { EffectStore, Snapshot, StepStore } from '../db/steps.ts';
import type { JobOutcome, TurnRef } from '../workflows/contract/job.ts';
import { FailureType } from '../workflows/contract/failures.ts';
import { takenOver, type Attempt } from './attempt.ts';
import type { Workspaces } from './clients/workspaces.ts';
import { publishedOf } from './follow-up.ts';
import { baseOf, type JobAccess } from './job-access.ts';
import { bodyOf, branchOf, commitMessageOf, summaryOf, titleOf, type ChangeText } from './pull-request-text.ts';

export interface PublishActivityDeps {
  jobs: Pick<JobStore, 'setPhase' | 'setSummary' | 'setPublished' | 'prompts'>;
  steps: Pick<StepStore, 'list' | 'latestTree' | 'snapshot'>;
  effects: EffectStore;
  branches: Pick<JobBranchStore, 'follow'>;
  access: JobAccess;
  workspaces: Pick<Workspaces, 'publish'>;
  attempt: Attempt;
  redact(text: string): string;
}

interface TurnText extends ChangeText {
  /** The title of the pull request; `title` is the one of the turn's commit. */
  jobTitle: string;
}

type PushedTree = z.infer<typeof pushResultSchema>;

interface Publication {
  ref: TurnRef;
  job: JobRow;
  text: TurnText;
  branch: string;
  snapshot: Snapshot;
  signal: AbortSignal;
}

const author = { name: 'Docket', email: 'docket@noreply.invalid' };
const pushResultSchema = z.object({ commit: z.string(), tree: z.string() });

export function createPublishActivities(deps: PublishActivityDeps) {
  const { jobs, steps, effects, branches, access, workspaces, attempt, redact } = deps;
  return {
    /**
     * Safe to run twice: branch, commit and pull request derive from the job and its newest tree, and an attempt that was
     * overtaken is stopped in front of each effect.
     */
    async publish(ref: TurnRef): Promise<JobOutcome> {
      return attempt({ countFailure: () => effects.countFailure({ ...ref, effect: 'publish' }) }, async (signal) => {
        const job = await access.activeJob(ref);
        await jobs.setPhase({ ...ref, phase: 'publishing' });
        const text = await describeChange(ref, job);
        const tree = await steps.latestTree(job.id);
        if (tree !== null && tree === job.headTree && job.prLink !== null)
          return isOver(job) ? { kind: 'no-changes' } : { kind: 'published', prLink: job.prLink };
        const snapshot = tree === null ? null : await steps.snapshot(job.id, tree);
        if (snapshot === null || (snapshot.changedFiles === 0 && job.headTree === null)) return { kind: 'no-changes' };
        const branch = job.branch !== null && !isOver(job) ? job.branch : branchOf(ref, text.title);
        return publishChange({ ref, job, text, branch, snapshot, signal });
      });
    },
  };

  /** Stores the agent's words first, so that every attempt takes the same ones. */
  async function describeChange(ref: TurnRef, job: JobRow): Promise<TurnText> {
    const summary = summaryOf(await steps.list(ref.jobId, ref.turn), ref.turn);
    const prompts = (await jobs.prompts(ref.jobId, ref.turn)).map(({ turn, prompt }) => ({
      turn,
      prompt: redact(prompt),
    }));
    const title = titleOf(redact(summary.title ?? prompts.find(({ turn }) => turn === ref.turn)?.prompt ?? ''));
    const message = redact(summary.message);
    // a pull request keeps the title it was opened with
    const jobTitle = job.prId !== null && job.title !== null && !isOver(job) ? job.title : title;
    await jobs.setSummary({ ...ref, title: jobTitle, message });
    return { jobId: job.id, title, jobTitle, prompts: prompts.map(({ prompt }) => prompt), message };
  }

  async function publishChange(publication: Publication): Promise<JobOutcome> {
    const { ref, branch } = publication;
    const { commit, tree } = await push(publication);
    const { id, url, state } = await openPullRequest(publication);
    const stored = { branch, headCommit: commit, headTree: tree, prId: id, prLink: url, prState: state };
    if (!(await jobs.setPublished({ ...ref, ...stored }))) throw ended();
    return { kind: 'published', prLink: url };
  }

  async function push({ ref, job, text, branch, snapshot, signal }: Publication): Promise<PushedTree> {
    const effect = { ...ref, effect: 'push' };
    const { fence, result } = await effects.claim(effect);
    const pushed = pushResultSchema.safeParse(result);
    // `tree` is what the working copy has from then on
    if (pushed.success && pushed.data.tree === snapshot.tree) return pushed.data;
    const publication = await workspaces.publish({
      ...(await access.repositoryOf(job, signal)),
      jobId: job.id,
      branch,
      baseCommit: baseOf(job).commit,
      snapshot,
      message: commitMessageOf(text),
      author: { ...author, date: job.createdAt },
      published: await publishedOf(steps, job),
      beforePush: () => mayAct({ ...effect, fence }),
    });
    const done = { commit: publication.commit, tree: publication.snapshot.tree };
    const adopted = { tree: done.tree, snapshot: publication.snapshot };
    if (!(await branches.follow({ ...effect, fence, branch: adopted, result: done }))) throw takenOver();
    return done;
  }

  async function openPullRequest({ ref, job, text, branch, signal }: Publication) {
    const effect = { ...ref, effect: 'pull-request' };
    const { fence } = await effects.claim(effect);
    const forge = await access.forgeOf(job);
    return forge.ensurePullRequest({
      repository: job.repository,
      head: branch,
      base: baseOf(job).branch,
      title: text.jobTitle,
      body: bodyOf(text),
      draft: job.draft,
      signal,
      beforeEffect: () => mayAct({ ...effect, fence }),
    });
  }

  /** A worker that was cut off from the engine can still reach the forge: it stops here. */
  async function mayAct(effect: TurnRef & { effect: string; fence: number }): Promise<void> {
    if (!(await access.isActive(effect))) throw ended();
    if (!(await effects.holds(effect))) throw takenOver();
  }
}

/** Whether the pull request is closed or merged, so that a further change needs another one. */
function isOver({ prState }: JobRow): boolean {
  return prState === 'closed' || prState === 'merged';
}

function ended(): ApplicationFailure {
  return ApplicationFailure.nonRetryable('The turn has ended or a newer one began.', FailureType.Superseded);
}
