import { ScheduleAlreadyRunning, ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Client, ScheduleOptions } from '@temporalio/client';
import type { Logger } from 'pino';
import type { SiteRow } from '../../db/sites/sites.ts';
import type { SiteIndexing } from '../../db/for-worker/site-indexing.ts';
import {
  indexSiteWorkflowId,
  indexSiteWorkflowName,
  refreshSiteScheduleId,
  siteOfSchedule,
  refreshSiteWorkflowName,
  jobTaskQueue,
} from '../../workflows/contract/messages.ts';
import { repeatAll } from '../../lib/repeat.ts';
import type { IsDue } from '../../lib/due-poll.ts';
import type { IndexSiteInput } from '../../workflows/contract/site.ts';

export interface SiteChoresDeps {
  sites: Pick<SiteIndexing, 'listAll' | 'listIndexRequests' | 'requestOutdated'>;
  client: Pick<Client, 'workflow' | 'schedule'>;
  log: Logger;
  /** Format that this worker builds; sites with an older one are re-indexed. */
  indexFormat: number;
  taskQueue?: string;
  /** Reports whether an index is requested. */
  isDue?: IsDue;
  /** Interval between checks for index requests. */
  requestsEveryMs?: number;
  /** Interval between comparisons of all sites' schedules with the sites' settings. */
  schedulesEveryMs?: number;
}

const requestsAtOnce = 100;

/**
 * Starts requested indexing, and maintains one Temporal Schedule for each site that is re-indexed automatically. Runs
 * in every worker: starting is idempotent.
 */
export function createSiteChores(deps: SiteChoresDeps): AsyncDisposable {
  const { sites, client, log, taskQueue = jobTaskQueue, requestsEveryMs = 250, schedulesEveryMs = 30_000 } = deps;
  /** The schedules as this process last saw them: interval in minutes by site. */
  const scheduled = new Map<string, number | null>();
  let hasListed = false;

  async function startRequested(): Promise<void> {
    for (const { siteId, organizationId } of await sites.listIndexRequests(requestsAtOnce)) {
      const args: [IndexSiteInput] = [{ siteId }];
      await client.workflow.start(indexSiteWorkflowName, {
        workflowId: indexSiteWorkflowId(siteId),
        taskQueue,
        args,
        priority: { fairnessKey: organizationId },
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        workflowRunTimeout: '2h',
      });
    }
  }

  async function keepSchedules(): Promise<void> {
    const failures: unknown[] = [];
    // listed before the sites, so that a schedule without a site can only be that of a deleted one
    const earlier = await scheduledSites();
    const present = await sites.listAll();
    for (const id of earlier.difference(new Set(present.map((site) => site.id)))) {
      try {
        if (await isOurs(id)) await dropSchedule(id);
        scheduled.delete(id);
      } catch (error) {
        failures.push(error);
      }
    }
    hasListed = true;
    for (const site of present) {
      if (scheduled.get(site.id) === site.refreshMinutes) continue;
      try {
        await keepSchedule(site);
        scheduled.set(site.id, site.refreshMinutes);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} schedules could not be updated.`);
  }

  /** Returns the sites with schedules. The first call asks Temporal, as sites may be deleted while no worker runs. */
  async function scheduledSites(): Promise<Set<string>> {
    const ids = new Set(scheduled.keys());
    if (hasListed) return ids;
    for await (const { scheduleId } of client.schedule.list()) {
      const siteId = siteOfSchedule(scheduleId);
      if (siteId !== null) ids.add(siteId);
    }
    return ids;
  }

  /** Reports whether a schedule is ours: other installations on the same Temporal have their own task queue. */
  async function isOurs(siteId: string): Promise<boolean> {
    try {
      const { action } = await client.schedule.getHandle(refreshSiteScheduleId(siteId)).describe();
      return action.taskQueue === taskQueue;
    } catch (error) {
      if (error instanceof ScheduleNotFoundError) return false;
      throw error;
    }
  }

  async function dropSchedule(siteId: string): Promise<void> {
    try {
      await client.schedule.getHandle(refreshSiteScheduleId(siteId)).delete();
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
    }
  }

  async function keepSchedule({ id, refreshMinutes }: SiteRow): Promise<void> {
    if (refreshMinutes === null) return dropSchedule(id);
    try {
      await client.schedule
        .getHandle(refreshSiteScheduleId(id))
        .update((previous) => ({ ...previous, ...scheduleOf({ siteId: id, minutes: refreshMinutes, taskQueue }) }));
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
      await createSchedule(id, refreshMinutes);
    }
  }

  async function createSchedule(siteId: string, minutes: number): Promise<void> {
    try {
      await client.schedule.create(scheduleOf({ siteId, minutes, taskQueue }));
    } catch (error) {
      // another worker was faster, perhaps with an older interval
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      await client.schedule
        .getHandle(refreshSiteScheduleId(siteId))
        .update((previous) => ({ ...previous, ...scheduleOf({ siteId, minutes, taskQueue }) }));
    }
  }

  return repeatAll(log, [
    { name: 'index requests', everyMs: requestsEveryMs, isDue: deps.isDue, work: startRequested },
    { name: 'outdated indexes', everyMs: schedulesEveryMs, work: () => sites.requestOutdated(deps.indexFormat) },
    { name: 'site schedules', everyMs: schedulesEveryMs, work: keepSchedules },
  ]);
}

function scheduleOf({ siteId, minutes, taskQueue }: { siteId: string; minutes: number; taskQueue: string }) {
  return {
    scheduleId: refreshSiteScheduleId(siteId),
    spec: { intervals: [{ every: `${minutes}m` as const }] },
    // runs are due at multiples of the interval: a stack that stops every night would miss all that are due at midnight
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: `${minutes}m` as const },
    action: {
      type: 'startWorkflow',
      workflowType: refreshSiteWorkflowName,
      taskQueue,
      args: [{ siteId }],
      workflowRunTimeout: '10m',
    },
  } satisfies ScheduleOptions;
}
