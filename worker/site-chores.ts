import { ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Client, ScheduleOptions } from '@temporalio/client';
import type { Logger } from 'pino';
import type { SiteRow, SiteStore } from '../db/sites.ts';
import {
  indexSiteWorkflowId,
  indexSiteWorkflowName,
  refreshSiteScheduleId,
  refreshSiteWorkflowName,
  siteTaskQueue,
} from '../workflows/contract/messages.ts';
import type { IndexSiteInput } from '../workflows/contract/site.ts';

export interface SiteChoresDeps {
  sites: Pick<SiteStore, 'list' | 'listIndexRequests'>;
  client: Pick<Client, 'workflow' | 'schedule'>;
  log: Logger;
  /** How often requests for an index are looked for. */
  requestsEveryMs?: number;
  /** How often the schedules of all sites are compared with what the sites say. */
  schedulesEveryMs?: number;
}

const requestsAtOnce = 20;

/**
 * Starts the indexing that somebody asked for, and keeps one Temporal Schedule for each site that is refreshed by itself. Runs
 * in every worker: starting twice is one start.
 */
export function createSiteChores(deps: SiteChoresDeps): AsyncDisposable {
  const { sites, client, log, requestsEveryMs = 500, schedulesEveryMs = 30_000 } = deps;
  /** What the schedules of this process' last look were: site → minutes. */
  const scheduled = new Map<string, number | null>();

  async function startRequested(): Promise<void> {
    for (const siteId of await sites.listIndexRequests(requestsAtOnce)) {
      const args: [IndexSiteInput] = [{ siteId }];
      await client.workflow.start(indexSiteWorkflowName, {
        workflowId: indexSiteWorkflowId(siteId),
        taskQueue: siteTaskQueue,
        args,
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowRunTimeout: '2h',
      });
    }
  }

  async function keepSchedules(): Promise<void> {
    for (const site of await sites.list()) {
      if (scheduled.get(site.id) === site.refreshMinutes) continue;
      await keepSchedule(site);
      scheduled.set(site.id, site.refreshMinutes);
    }
  }

  async function keepSchedule(site: SiteRow): Promise<void> {
    const handle = client.schedule.getHandle(refreshSiteScheduleId(site.id));
    try {
      if (site.refreshMinutes === null) await handle.delete();
      else await handle.update((previous) => ({ ...previous, spec: specOf(site.refreshMinutes ?? 0) }));
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
      if (site.refreshMinutes !== null) await client.schedule.create(scheduleOf(site.id, site.refreshMinutes));
    }
  }

  const chores = [
    repeat({ name: 'index requests', everyMs: requestsEveryMs, work: startRequested, log }),
    repeat({ name: 'site schedules', everyMs: schedulesEveryMs, work: keepSchedules, log }),
  ];
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(chores.map((chore) => chore[Symbol.asyncDispose]()));
    },
  };
}

function scheduleOf(siteId: string, minutes: number): ScheduleOptions {
  return {
    scheduleId: refreshSiteScheduleId(siteId),
    spec: specOf(minutes),
    policies: { overlap: ScheduleOverlapPolicy.SKIP },
    action: {
      type: 'startWorkflow',
      workflowType: refreshSiteWorkflowName,
      taskQueue: siteTaskQueue,
      args: [{ siteId }],
      workflowRunTimeout: '10m',
    },
  };
}

function specOf(minutes: number) {
  return { intervals: [{ every: `${minutes}m` as const }] };
}

/** Runs a chore again and again, one round at a time; a round that fails is logged once in a row. */
function repeat({
  name,
  everyMs,
  work,
  log,
}: {
  name: string;
  everyMs: number;
  work: () => Promise<void>;
  log: Logger;
}): AsyncDisposable {
  let isStopped = false;
  let hasFailed = false;
  let timer: NodeJS.Timeout | undefined;
  let round = run();

  async function run(): Promise<void> {
    try {
      await work();
      hasFailed = false;
    } catch (error) {
      if (!hasFailed && !isStopped) log.warn({ err: error, chore: name }, 'a chore failed; it is tried again');
      hasFailed = true;
    }
    if (!isStopped) timer = setTimeout(() => (round = run()), everyMs);
  }

  return {
    async [Symbol.asyncDispose]() {
      isStopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}
