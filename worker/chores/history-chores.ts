import type { Logger } from 'pino';
import type { DueExport, WorkerHistoryStore } from '../../db/for-worker/job-histories.ts';
import { jobWorkflowId } from '../../workflows/contract/messages.ts';
import type { ReadClosedExecution } from './history-export.ts';
import { repeatAll } from '../../lib/repeat.ts';
import type { IsDue } from '../../lib/due-poll.ts';
import { allOf } from '../../lib/all-of.ts';

export interface HistoryChoresDeps {
  histories: Pick<WorkerHistoryStore, 'claimDue' | 'postpone' | 'store' | 'markLost' | 'removeOld'>;
  readClosedExecution: ReadClosedExecution;
  log: Logger;
  /** Days that events and histories of an archived job are retained; 0 for no limit. */
  keepDays: number;
  /** Reports whether a turn has ended. */
  isDue?: IsDue;
  /** Interval between checks for ended turns. */
  everyMs?: number;
  /** Lease of a claimed export. */
  leaseMs?: number;
  /** Time after the end of a turn at which an execution unknown to Temporal counts as lost. */
  lostAfterMs?: number;
}

const exportsAtOnce = 10;
const removalsAtOnce = 50;
const maxWaitMs = 60_000;

/**
 * Stores Temporal's history of each ended turn, so that a job can be replayed after Temporal has deleted it. Runs in
 * every worker; each history is fetched by one of them, and again if that one is killed.
 */
export function createHistoryChores(deps: HistoryChoresDeps): AsyncDisposable {
  const { histories, readClosedExecution, log, keepDays } = deps;
  const { everyMs = 1_000, leaseMs = 30_000, lostAfterMs = 60_000 } = deps;

  async function exportEnded(): Promise<void> {
    for (;;) {
      const due = await histories.claimDue({ limit: exportsAtOnce, leaseMs });
      await allOf(due.map(exportOne));
      if (due.length < exportsAtOnce) return;
    }
  }

  async function exportOne(due: DueExport): Promise<void> {
    const { jobId, turn } = due;
    const found = await readClosedExecution(jobWorkflowId(jobId, turn));
    if (typeof found === 'object') return histories.store({ jobId, turn, ...found });
    if (found === 'unknown' && due.endedMsAgo >= lostAfterMs) {
      log.warn({ jobId, turn }, 'Temporal has no history of a turn that has ended');
      return histories.markLost({ jobId, turn });
    }
    return histories.postpone({ jobId, turn, waitMs: Math.min(maxWaitMs, 100 * 2 ** Math.min(due.attempts, 16)) });
  }

  async function removeOld(): Promise<void> {
    if (keepDays === 0) return;
    while ((await histories.removeOld({ days: keepDays, limit: removalsAtOnce })) === removalsAtOnce);
  }

  return repeatAll(log, [
    { name: 'histories', everyMs, isDue: deps.isDue, work: exportEnded },
    { name: 'expired history', everyMs: 3_600_000, retryMs: 60_000, work: removeOld },
  ]);
}
