import { createHash } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { Pool } from 'pg';
import { parseEncryptionKeys, type EncryptionKey } from '../../../lib/encryption/keys.ts';

/** Returns keys with these ids; the same id always gives the same key. */
export function testKeys(...ids: string[]): EncryptionKey[] {
  return parseEncryptionKeys(testKeysText(...ids));
}

/** Returns the same keys in the form of `DOCKET_ENCRYPTION_KEYS`. */
export function testKeysText(...ids: string[]): string {
  return ids.map((id) => `${id}:${createHash('sha256').update(id).digest('base64')}`).join(',');
}

/** Returns everything that a reader of Temporal's store can read of an execution. */
export async function readableHistory(handle: WorkflowHandle): Promise<string> {
  const stored = proto.temporal.api.history.v1.History.encode(await handle.fetchHistory()).finish();
  return Buffer.from(stored).toString('utf8');
}

/** Returns everything that a reader of the database can read, one row per line, with bytes in hexadecimal. */
export async function readableDatabase(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ name: string }>(
    `select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
  );
  const texts: string[] = [];
  for (const { name } of rows) {
    const dump = await pool.query<{ text: string }>(
      `select coalesce(string_agg(t::text, E'\\n'), '') as text from ${name} t`,
    );
    texts.push(dump.rows[0]!.text);
  }
  return texts.join('\n');
}
