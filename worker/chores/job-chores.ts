import { ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { GrantedAccess } from '../../activities/job/granted-access.ts';
import type { ChoreClaims } from '../../db/for-worker/chores.ts';
import type { IdleEndings } from '../../db/for-worker/idle-endings.ts';
import type { ModelCallLeases } from '../../db/for-worker/model-call-leases.ts';
import type { JobBranchStore, OpenPullRequest } from '../../db/for-worker/job-branches.ts';
import { archiveJobsScheduleId, archiveJobsWorkflowName, jobTaskQueue } from '../../workflows/contract/messages.ts';
import { repeatAll } from '../../lib/repeat.ts';
import { allOf } from '../../lib/all-of.ts';

export interface JobChoresDeps {
  branches: Pick<JobBranchStore, 'claimOpenPullRequests' | 'claimClosedPullRequests' | 'setPullRequestState'>;
  leases: Pick<ModelCallLeases, 'loseAbandoned'>;
  endings: Pick<IdleEndings, 'endWaits'>;
  chores: ChoreClaims;
  granted: Pick<GrantedAccess, 'forgeOf'>;
  client: Pick<Client, 'schedule'>;
  log: Logger;
  /** Interval between rounds. */
  roundsEveryMs?: number;
}

const idleDays = 30;
const pullRequestsAtOnce = 20;
const closedAtOnce = 5;
const waitsAtOnce = 100;

/**
 * Refreshes the state of pull requests, charges model calls that killed workers left open, fails jobs
 * that waited for a person until their deadline, and maintains the daily Temporal Schedule that archives idle jobs. Runs in
 * every worker; each pull request is checked by one of them, and one does a round of the calls and waits for all.
 */
export function createJobChores(deps: JobChoresDeps): AsyncDisposable {
  const { branches, leases, endings, chores: claims, granted, client, log } = deps;
  const { roundsEveryMs = 15_000 } = deps;
  const stopped = new AbortController();

  async function refreshPullRequests(): Promise<void> {
    const open = await branches.claimOpenPullRequests({ limit: pullRequestsAtOnce });
    const closed = await branches.claimClosedPullRequests({ limit: closedAtOnce });
    await allOf([...open, ...closed].map(refresh));
  }

  async function endExpiredWaits(): Promise<void> {
    while ((await endings.endWaits({ limit: waitsAtOnce })) === waitsAtOnce);
  }

  async function refresh({ prId, ...job }: OpenPullRequest): Promise<void> {
    // a token for each job would cost a GitHub App three more requests
    const forge = await granted.forgeOf({ ...job, id: null });
    if (forge === null) return;
    const pullRequest = await forge.pullRequestState({ repository: job.repository, id: prId, signal: stopped.signal });
    await branches.setPullRequestState({ jobId: job.id, prId, ...pullRequest });
  }

  const forAll = (name: string) => ({ name, everyMs: roundsEveryMs, isDue: () => claims.claim(name, roundsEveryMs) });
  const chores = repeatAll(log, [
    { name: 'pull requests', everyMs: roundsEveryMs, work: refreshPullRequests },
    { ...forAll('expired waits'), work: endExpiredWaits },
    { ...forAll('abandoned model calls'), work: () => leases.loseAbandoned() },
    { name: 'archive schedule', everyMs: 3_600_000, retryMs: 5_000, work: () => keepArchiveSchedule(client) },
  ]);
  return {
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await chores[Symbol.asyncDispose]();
    },
  };
}

/** Creates the schedule unless it exists, because an operator may have changed it. */
async function keepArchiveSchedule(client: Pick<Client, 'schedule'>): Promise<void> {
  try {
    await client.schedule.create({
      scheduleId: archiveJobsScheduleId,
      spec: { calendars: [{ hour: 3, minute: 17 }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 day' },
      action: {
        type: 'startWorkflow',
        workflowType: archiveJobsWorkflowName,
        taskQueue: jobTaskQueue,
        args: [{ idleDays }],
        workflowRunTimeout: '1h',
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
