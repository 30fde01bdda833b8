import { z } from 'zod';
import type { JobRow } from '../../db/jobs/jobs.ts';
import type { WorkerJobStore } from '../../db/for-worker/jobs.ts';
import type { JobBranchStore } from '../../db/for-worker/job-branches.ts';
import type { EffectStore } from '../../db/for-worker/effects.ts';
import type { ProjectRepositoryWriter } from '../../db/for-worker/projects/project-repository.ts';
import type { StepStore } from '../../db/for-worker/steps.ts';
import { maxNameLength, maxBranches, maxDocuments } from '../../db/organizations/project-repository.ts';
import type { PreparedTurn, TurnRef } from '../../workflows/contract/job.ts';
import type { RepositoryAccess } from '../git/remote.ts';
import { takenOver, type Attempt } from '../attempt.ts';
import type { Environments } from '../environment/environments.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import { followUp } from './follow-up.ts';
import { storeInstructions, type InstructionDeps } from '../model/instructions.ts';
import { baseOf, type JobAccess } from './job-access.ts';

export interface WorkspaceActivityDeps extends Omit<InstructionDeps, 'workspaces'> {
  jobs: Pick<WorkerJobStore, 'setPhase' | 'setBase'>;
  steps: Pick<StepStore, 'newestSnapshot' | 'snapshot'>;
  effects: EffectStore;
  access: JobAccess;
  branches: JobBranchStore;
  repositoryNames: ProjectRepositoryWriter;
  redact(text: string): string;
  workspaces: Pick<Workspaces, 'resolve' | 'readFile' | 'findFiles' | 'listFiles' | 'listBranches' | 'mergeUpstream'>;
  environments: Environments;
  attempt: Attempt;
}

const isDocument = /\.(?:md|mdx|rst|adoc)$/i;

const baseSchema = z.object({ branch: z.string(), commit: z.string() });

export function createWorkspaceActivities(deps: WorkspaceActivityDeps) {
  const { jobs, steps, effects, access, repositoryNames, workspaces, environments, attempt, redact } = deps;
  return {
    /**
     * Gives the job a base commit and this worker a working copy, in a further turn with the commits that others pushed
     * to the branch. Idempotent: the ref is resolved once per job, and the commits of others are merged once per turn.
     */
    async prepare(ref: TurnRef): Promise<PreparedTurn | undefined> {
      return attempt(
        { turn: ref, isRestartable: true, countFailure: () => effects.countFailure({ ...ref, effect: 'prepare' }) },
        async (signal) => {
          await access.activeJob(ref);
          await jobs.setPhase({ ...ref, phase: 'preparing' });
          await withBase(ref, signal);
          if (ref.turn > 1) await followUp(deps, ref, signal);
          const job = await access.activeJob(ref);
          const { commit } = baseOf(job);
          const repository = await access.repositoryOf(job, signal);
          const turn = { ref, job, repository, signal };
          const environment = await environments.prepare(turn);
          const snapshot = await steps.newestSnapshot(job.id);
          const wanted = { ...repository, jobId: job.id, baseCommit: commit, snapshot };
          const workspace = await environments.open({ ...turn, environment }, wanted);
          // the first step need not compare a tree that nothing was unpacked into
          await workspace.release(workspace.isFilled ? { tree: workspace.tree } : undefined);
          const { forkedFrom } = job;
          const firstStep = forkedFrom?.turn === ref.turn ? forkedFrom.step + 1 : 1;
          const own = { ...job, environment };
          await storeInstructions(deps, { ref, firstStep, job: own, commit, access: repository });
          await jobs.setPhase({ ...ref, phase: 'running' });
          return firstStep === 1 ? undefined : { firstStep };
        },
      );
    },
  };

  /** The first attempt that stores the resolved ref decides it; a slower one is rejected by its fence. */
  async function withBase(ref: TurnRef, signal: AbortSignal): Promise<void> {
    const job = await access.activeJob(ref);
    if (job.baseCommit !== null) return;
    const effect = { ...ref, effect: 'resolve' };
    const { fence, result } = await effects.claim(effect);
    const stored = baseSchema.safeParse(result);
    const repository = await access.repositoryOf(job, signal);
    const { branch, commit } = stored.data ?? (await workspaces.resolve({ ...repository, ref: job.requestedRef }));
    if (!stored.success && !(await effects.storeResult({ ...effect, fence, result: { branch, commit } })))
      throw takenOver();
    await jobs.setBase({ ...ref, baseBranch: branch, baseCommit: commit });
    await storeNames(job, { ...repository, commit });
  }

  /** Keeps what the repository has, for suggestions in the form of the next job. */
  async function storeNames(job: JobRow, base: RepositoryAccess & { commit: string }): Promise<void> {
    // a name may contain a secret, as everything in a repository may
    const isPlain = (name: string) => name.length <= maxNameLength && redact(name) === name;
    // those of jobs are known from the jobs
    const isOwn = (branch: string) => branch.startsWith('docket/');
    const isWanted = (path: string) => isDocument.test(path) && isPlain(path);
    const documents = await workspaces.listFiles({ ...base, isWanted });
    const branches = await workspaces.listBranches({ ...base, max: 10 * maxBranches });
    const depthOf = (path: string) => path.split('/').length;
    await repositoryNames.store(job.id, {
      branches: branches.filter((name) => isPlain(name) && !isOwn(name)).slice(0, maxBranches),
      documents: documents
        .map(({ path }) => path)
        .toSorted((a, b) => depthOf(a) - depthOf(b))
        .slice(0, maxDocuments),
    });
  }
}
