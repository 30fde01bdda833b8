import { ApplicationFailure } from '@temporalio/activity';
import { z } from 'zod';
import type { JobRow, JobStore } from '../db/jobs.ts';
import type { EffectStore, Snapshot, StepStore } from '../db/steps.ts';
import type { JobOutcome, TurnRef } from '../workflows/contract/job.ts';
import { FailureType } from '../workflows/contract/failures.ts';
import { takenOver, type Attempt } from './attempt.ts';
import type { Workspaces } from './clients/workspaces.ts';
import { baseOf, type JobAccess } from './job-access.ts';
import { bodyOf, branchOf, commitMessageOf, summaryOf, titleOf, type ChangeText } from './pull-request-text.ts';

export interface PublishActivityDeps {
  jobs: Pick<JobStore, 'setPhase' | 'setSummary' | 'setPublished' | 'promptOf'>;
  steps: Pick<StepStore, 'list' | 'latestTree' | 'snapshot'>;
  effects: EffectStore;
  access: JobAccess;
  workspaces: Pick<Workspaces, 'publish'>;
  attempt: Attempt;
  redact(text: string): string;
}

interface Publication {
  ref: TurnRef;
  job: JobRow;
  text: ChangeText;
  branch: string;
  snapshot: Snapshot;
  signal: AbortSignal;
}

const author = { name: 'Docket', email: 'docket@noreply.invalid' };
const pushResultSchema = z.object({ commit: z.string() });

export function createPublishActivities(deps: PublishActivityDeps) {
  const { jobs, steps, effects, access, workspaces, attempt, redact } = deps;
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
          return { kind: 'published', prLink: job.prLink };
        const snapshot = tree === null ? null : await steps.snapshot(job.id, tree);
        if (snapshot === null || snapshot.changedFiles === 0) return { kind: 'no-changes' };
        const branch = job.branch ?? branchOf(job.id, text.title);
        return publishChange({ ref, job, text, branch, snapshot, signal });
      });
    },
  };

  /** Stores the agent's words first, so that every attempt takes the same ones. */
  async function describeChange(ref: TurnRef, job: JobRow): Promise<ChangeText> {
    const summary = summaryOf(await steps.list(ref.jobId, ref.turn), ref.turn);
    const prompt = redact((await jobs.promptOf(ref.jobId, ref.turn)) ?? '');
    const title = titleOf(redact(summary.title ?? prompt));
    const message = redact(summary.message);
    await jobs.setSummary({ ...ref, title, message });
    return { jobId: job.id, title, prompt, message };
  }

  async function publishChange(publication: Publication): Promise<JobOutcome> {
    const { ref, branch, snapshot } = publication;
    const commit = await push(publication);
    const { id, url } = await openPullRequest(publication);
    const stored = { branch, headCommit: commit, headTree: snapshot.tree, prId: id, prLink: url };
    if (!(await jobs.setPublished({ ...ref, ...stored }))) throw ended();
    return { kind: 'published', prLink: url };
  }

  async function push({ ref, job, text, branch, snapshot, signal }: Publication): Promise<string> {
    const effect = { ...ref, effect: 'push' };
    const { fence, result } = await effects.claim(effect);
    const pushed = pushResultSchema.safeParse(result);
    if (pushed.success) return pushed.data.commit;
    const { commit } = await workspaces.publish({
      ...(await access.repositoryOf(job, signal)),
      jobId: job.id,
      branch,
      baseCommit: baseOf(job).commit,
      snapshot,
      message: commitMessageOf(text),
      author: { ...author, date: job.createdAt },
      expectedHead: job.headCommit,
      beforePush: () => mayAct({ ...effect, fence }),
    });
    await effects.storeResult({ ...effect, fence, result: { commit } });
    return commit;
  }

  async function openPullRequest({ ref, job, text, branch, signal }: Publication) {
    const effect = { ...ref, effect: 'pull-request' };
    const { fence } = await effects.claim(effect);
    const forge = await access.forgeOf(job);
    return forge.ensurePullRequest({
      repository: job.repository,
      head: branch,
      base: baseOf(job).branch,
      title: text.title,
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

function ended(): ApplicationFailure {
  return ApplicationFailure.nonRetryable('The turn has ended or a newer one began.', FailureType.Superseded);
}
