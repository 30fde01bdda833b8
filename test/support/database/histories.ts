import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

const directory = join(import.meta.dirname, '../../replay/histories');

export interface RecordedHistory {
  name: string;
  workflowId: string;
  /** In the form that the replayer reads. */
  history: unknown;
}

/** Stores the history of an execution for the replay tests if `RECORD_HISTORIES=1` is set. */
export async function recordHistory(name: string, handle: WorkflowHandle): Promise<void> {
  if (process.env['RECORD_HISTORIES'] !== '1') return;
  const history: unknown = JSON.parse(historyToJSON(await handle.fetchHistory()), withoutPlace);
  const { workflowId } = handle;
  await writeFile(join(directory, `${name}.json`), `${JSON.stringify({ workflowId, history }, null, 1)}\n`);
}

/** Removes process ids, host names and stack traces of the machine that recorded it. */
function withoutPlace(key: string, value: unknown): unknown {
  if (key === 'stackTrace') return '';
  return typeof value === 'string' && /^\d+@/.test(value) ? 'test' : value;
}

/** All recorded histories; those of earlier workflow code are in folders. */
export async function readHistories(): Promise<RecordedHistory[]> {
  const files = (await readdir(directory, { recursive: true })).filter((file) => file.endsWith('.json')).sort();
  return Promise.all(
    files.map(async (file) => ({
      name: file.slice(0, -'.json'.length),
      ...(JSON.parse(await readFile(join(directory, file), 'utf8')) as Omit<RecordedHistory, 'name'>),
    })),
  );
}
