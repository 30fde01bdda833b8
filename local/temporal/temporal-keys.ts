import { Client, Connection, ScheduleNotFoundError, WorkflowNotFoundError } from '@temporalio/client';
import { SealedError } from '../../lib/encryption/cipher.ts';
import { createDataConverter } from '../../lib/encryption/data-converter.ts';
import { directChannel } from '../../lib/temporal/temporal-connection.ts';
import { readTemporalCredentials, type TemporalSettings } from '../../lib/temporal/temporal-credentials.ts';
import { keysOfPayloads } from '../../lib/encryption/history-payloads.ts';
import type { EncryptionKey } from '../../lib/encryption/keys.ts';

/** Encryption keys with the number of times Temporal needs each. */
type KeyCounts = Map<string, number>;

export interface TemporalKeys {
  resealedSchedules: number;
  schedules: KeyCounts;
  openExecutions: KeyCounts;
}

export interface TemporalKeysOptions {
  temporal: TemporalSettings;
  encryptionKeys: readonly EncryptionKey[];
  scheduleIds: readonly string[];
}

const connectTimeout = '5 seconds';
const fetchedAtOnce = 10;

/**
 * Reseals schedules whose arguments are not sealed with the first key, and counts the keys that Temporal still needs
 * for schedules and open executions. Returns null when Temporal does not respond.
 */
export async function resealTemporal(options: TemporalKeysOptions): Promise<TemporalKeys | null> {
  const { temporal, encryptionKeys, scheduleIds } = options;
  let connection: Connection;
  try {
    connection = await Connection.connect({
      address: temporal.address,
      ...readTemporalCredentials(temporal),
      channelArgs: directChannel,
      connectTimeout,
    });
  } catch {
    return null;
  }
  try {
    const dataConverter = createDataConverter(encryptionKeys);
    const client = new Client({ connection, namespace: temporal.namespace, dataConverter });
    const schedules: KeyCounts = new Map();
    let resealedSchedules = 0;
    for (const id of scheduleIds) {
      if (await resealSchedule(client, id, encryptionKeys[0]?.id ?? null)) resealedSchedules += 1;
      count(schedules, await keysOfSchedule(client, id));
    }
    return { resealedSchedules, schedules, openExecutions: await keysOfOpenExecutions(client) };
  } finally {
    await connection.close();
  }
}

async function resealSchedule(client: Client, id: string, first: string | null): Promise<boolean> {
  try {
    const keys = await keysOfSchedule(client, id);
    if (keys === null || (keys.size === 1 && keys.has(first))) return false;
    await client.schedule.getHandle(id).update((previous) => previous);
    return true;
  } catch (error) {
    // its key is missing, or it was deleted in the meantime
    if (error instanceof SealedError || error instanceof ScheduleNotFoundError) return false;
    throw error;
  }
}

/**
 * Returns the keys of a schedule, or null when it does not exist. Calls the service directly, because the schedule's
 * key may be missing.
 */
async function keysOfSchedule({ options, workflowService }: Client, scheduleId: string) {
  try {
    const { schedule } = await workflowService.describeSchedule({ namespace: options.namespace, scheduleId });
    return keysOfPayloads(schedule?.action?.startWorkflow?.input ?? {});
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

async function keysOfOpenExecutions(client: Client): Promise<KeyCounts> {
  const counts: KeyCounts = new Map();
  let batch: Promise<void>[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query: `ExecutionStatus = 'Running'` })) {
    batch.push(keysOfExecution(client, workflowId, runId).then((keys) => count(counts, keys)));
    if (batch.length < fetchedAtOnce) continue;
    await Promise.all(batch);
    batch = [];
  }
  await Promise.all(batch);
  return counts;
}

async function keysOfExecution(client: Client, workflowId: string, runId: string) {
  try {
    return keysOfPayloads(await client.workflow.getHandle(workflowId, runId).fetchHistory());
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || isNotFound(error)) return null;
    throw error;
  }
}

function count(counts: KeyCounts, keys: ReadonlySet<string | null> | null): void {
  for (const id of keys ?? []) if (id !== null) counts.set(id, (counts.get(id) ?? 0) + 1);
}

const grpcNotFound = 5;

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === grpcNotFound;
}
