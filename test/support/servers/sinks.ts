import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Client, Connection, type WorkflowExecutionInfo } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Pool } from 'pg';
import type { EncryptionKey } from '../../../lib/encryption/keys.ts';
import { openHistory } from '../../../lib/encryption/history-payloads.ts';
import type { FakeForge } from '../forges/fake-forge.ts';
import type { TestRepository } from '../git-repository.ts';
import type { Trace } from '../canary-secrets.ts';

/** Number of histories that are fetched at a time. */
const atOnce = 32;
const bytesShown = /^\\x(?:[0-9a-f]{2})+$/;

/** Yields every value of every row of a database. */
export async function* databaseTraces(pool: Pool): AsyncGenerator<Trace> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: Record<string, unknown> }>(`select to_jsonb(t) as row from "${name}" t`);
    for (const { row } of rows) {
      for (const [column, value] of Object.entries(row)) {
        if (value === null || typeof value === 'number' || typeof value === 'boolean') continue;
        yield { place: `database: ${name}.${column}`, text: readable(value) };
      }
    }
  }
}

/** Returns a value as text; compressed bytes are decompressed. */
function readable(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (!bytesShown.test(value)) return value;
  const bytes = Buffer.from(value.slice(2), 'hex');
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes).toString() : bytes.toString('latin1');
}

/** Yields the files with these extensions below a folder. */
export async function* fileTraces(directory: string, endings: readonly string[]): AsyncGenerator<Trace> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isFile() || !endings.some((ending) => entry.name.endsWith(ending))) continue;
    yield { place: `file: ${entry.name}`, text: await readFile(join(entry.parentPath, entry.name), 'latin1') };
  }
}

/** Yields every history of a namespace, with the payloads as they were sent. */
export async function* temporalTraces({
  address,
  namespace,
  encryptionKeys = [],
}: {
  address: string;
  namespace: string;
  encryptionKeys?: readonly EncryptionKey[];
}): AsyncGenerator<Trace> {
  const connection = await Connection.connect({ address });
  try {
    const { workflow } = new Client({ connection, namespace });
    const read = async ({ workflowId, runId, memo, searchAttributes }: WorkflowExecutionInfo): Promise<Trace[]> => {
      const history = await openHistory(await workflow.getHandle(workflowId, runId).fetchHistory(), encryptionKeys);
      const text = JSON.stringify(historyToJSON(history)).replaceAll(/"data":"([A-Za-z0-9+/=]+)"/g, (_, data: string) =>
        Buffer.from(data, 'base64').toString(),
      );
      const attributes = JSON.stringify({ memo, searchAttributes });
      return [
        { place: `temporal: ${workflowId}`, text },
        { place: `temporal: ${workflowId} (attributes)`, text: attributes },
      ];
    };
    let batch: Promise<Trace[]>[] = [];
    for await (const execution of workflow.list()) {
      batch.push(read(execution));
      if (batch.length < atOnce) continue;
      yield* (await Promise.all(batch)).flat();
      batch = [];
    }
    yield* (await Promise.all(batch)).flat();
  } finally {
    await connection.close();
  }
}

/** Yields the requests to a forge, and its pull requests. */
export function* forgeTraces(forge: FakeForge, fullName: string): Generator<Trace> {
  for (const { path, body } of forge.requests) yield { place: 'forge: request', text: JSON.stringify({ path, body }) };
  for (const one of forge.pullRequests(fullName)) yield { place: 'forge: pull request', text: JSON.stringify(one) };
}

/** Yields the names of branches, and the messages and authors of all commits. */
export async function* gitTraces(repository: TestRepository): AsyncGenerator<Trace> {
  yield { place: 'git: refs', text: await repository.git('for-each-ref', '--format=%(refname) %(contents)') };
  yield { place: 'git: commits', text: await repository.git('log', '--all', '--format=%an %ae %cn %ce %B') };
}
