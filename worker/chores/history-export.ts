import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { HistoryRun } from '../../db/for-worker/job-histories.ts';
import { packHistory, type History } from '../../db/jobs/stored-history.ts';
import { openHistory } from '../../lib/encryption/history-payloads.ts';
import type { EncryptionKey } from '../../lib/encryption/keys.ts';

interface ExportedChain {
  /** In the order of the chain. */
  runs: HistoryRun[];
  /** False when Temporal had lost earlier runs. */
  isWhole: boolean;
}

/** Reads a closed execution from Temporal, with the runs it was continued from. */
export type ReadClosedExecution = (workflowId: string) => Promise<ExportedChain | 'open' | 'unknown'>;

/** Returns histories without Temporal's payload encryption: they outlive the keys and replay on any machine. */
export function createClosedExecutionReader({
  client,
  encryptionKeys,
}: {
  client: Pick<Client, 'workflow'>;
  encryptionKeys: readonly EncryptionKey[];
}): ReadClosedExecution {
  return async function readClosedExecution(workflowId) {
    const latest = await describe(workflowId);
    if (latest === null) return 'unknown';
    if (latest.isOpen) return 'open';
    const runs: HistoryRun[] = [];
    for (let runId: string | null = latest.runId; runId !== null;) {
      const history = await fetchRun(workflowId, runId);
      if (history === null) return runs.length === 0 ? 'unknown' : { runs, isWhole: false };
      runs.unshift(await runOf(runId, history));
      runId = previousRunOf(history);
    }
    return { runs, isWhole: true };
  };

  async function describe(workflowId: string): Promise<{ runId: string; isOpen: boolean } | null> {
    const found = await unlessUnknown(client.workflow.getHandle(workflowId).describe());
    return found === null ? null : { runId: found.runId, isOpen: found.status.name === 'RUNNING' };
  }

  async function fetchRun(workflowId: string, runId: string): Promise<History | null> {
    const history = await unlessUnknown(client.workflow.getHandle(workflowId, runId).fetchHistory());
    return history === null ? null : openHistory(history, encryptionKeys);
  }
}

async function unlessUnknown<Answer>(answer: Promise<Answer>): Promise<Answer | null> {
  try {
    return await answer;
  } catch (error) {
    // fetchHistory throws the unwrapped gRPC error
    if (error instanceof WorkflowNotFoundError || isNotFound(error)) return null;
    throw error;
  }
}

const grpcNotFound = 5;

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === grpcNotFound;
}

async function runOf(runId: string, history: History): Promise<HistoryRun> {
  const events = history.events ?? [];
  const builds = events.map(({ workflowTaskCompletedEventAttributes: task }) => {
    return task?.deploymentVersion?.buildId || task?.workerVersion?.buildId || '';
  });
  return {
    runId,
    history: await packHistory(history),
    eventCount: events.length,
    buildIds: [...new Set(builds.filter((build) => build !== ''))],
  };
}

/** Returns the run that a run was continued from. */
function previousRunOf(history: History): string | null {
  return history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || null;
}
