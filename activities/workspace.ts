import type { JobRow, JobStore } from '../db/jobs.ts';
import type { EffectStore, StepStore } from '../db/steps.ts';
import type { TurnRef } from '../workflows/contract/job.ts';
import type { Attempt } from './attempt.ts';
import type { Workspaces } from './clients/workspaces.ts';
import { instructionsIn, storeInstructions } from './instructions.ts';
import { baseCommitOf, type JobAccess } from './job-access.ts';

export interface WorkspaceActivityDeps {
  jobs: Pick<JobStore, 'setPhase' | 'setBase'>;
  steps: Pick<StepStore, 'latestTree' | 'snapshot'>;
  effects: EffectStore;
  access: JobAccess;
  workspaces: Pick<Workspaces, 'resolve' | 'open'>;
  attempt: Attempt;
}

export function createWorkspaceActivities(deps: WorkspaceActivityDeps) {
  const { jobs, steps, effects, access, workspaces, attempt } = deps;
  return {
    /**
     * Leaves the job with a base commit and this worker with a warm working copy. Safe to run twice: the ref is resolved
     * once, a stored base commit stays.
     */
    async prepare(ref: TurnRef): Promise<void> {
      await attempt({ countFailure: () => effects.countFailure({ ...ref, effect: 'prepare' }) }, async (signal) => {
        await access.activeJob(ref);
        await jobs.setPhase({ ...ref, phase: 'preparing' });
        const job = await withBase(ref, signal);
        const tree = await steps.latestTree(job.id);
        const snapshot = tree === null ? null : await steps.snapshot(job.id, tree);
        const repository = await access.repositoryOf(job, signal);
        const baseCommit = baseCommitOf(job);
        const workspace = await workspaces.open({ ...repository, jobId: job.id, baseCommit, snapshot });
        try {
          if (tree === null) await storeInstructions(effects, job.id, await instructionsIn(workspace.path));
        } finally {
          await workspace.release();
        }
        await jobs.setPhase({ ...ref, phase: 'running' });
      });
    },
  };

  async function withBase(ref: TurnRef, signal: AbortSignal): Promise<JobRow> {
    const job = await access.activeJob(ref);
    if (job.baseCommit !== null) return job;
    const repository = await access.repositoryOf(job, signal);
    const { branch, commit } = await workspaces.resolve({ ...repository, ref: job.requestedRef });
    await jobs.setBase({ ...ref, baseBranch: branch, baseCommit: commit });
    return access.activeJob(ref);
  }
}
