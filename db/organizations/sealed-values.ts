import type { Pool } from 'pg';
import { SealedError } from '../../lib/encryption/cipher.ts';
import { sealingKeyOf, type SecretBox } from '../../lib/encryption/secret-box.ts';
import { captchaSecretOwner } from './keys.ts';
import {
  projectCredentialOwner,
  projectSecretOwner,
  projectSshKeyOwner,
  projectToolsOwner,
} from './project-secrets.ts';
import { onlyRow } from '../rows.ts';
import { readerKeyOwner } from '../sites/sites.ts';
import { webhookSecretOwner, webhookUrlOwner } from '../webhooks/webhook-endpoints.ts';

/** A column whose values are encrypted. */
interface SealedColumn {
  table: string;
  /** Primary key, a text. */
  id: string;
  column: string;
  ownerOf(id: string): string;
}

/** All encrypted columns. A column missing here would not be re-encrypted, and its key could never be removed. */
const sealedColumns: readonly SealedColumn[] = [
  { table: 'projects', id: 'id', column: 'credential', ownerOf: projectCredentialOwner },
  { table: 'projects', id: 'id', column: 'ssh_key', ownerOf: projectSshKeyOwner },
  { table: 'project_secrets', id: 'id', column: 'value', ownerOf: projectSecretOwner },
  { table: 'project_tools', id: 'project_id', column: 'credentials', ownerOf: projectToolsOwner },
  { table: 'api_keys', id: 'id', column: 'captcha_secret', ownerOf: captchaSecretOwner },
  { table: 'sites', id: 'id', column: 'reader_key', ownerOf: readerKeyOwner },
  { table: 'webhook_endpoints', id: 'id', column: 'secret', ownerOf: webhookSecretOwner },
  { table: 'webhook_endpoints', id: 'id', column: 'previous_secret', ownerOf: webhookSecretOwner },
  { table: 'webhook_endpoints', id: 'id', column: 'sealed_url', ownerOf: webhookUrlOwner },
];

interface SealedValue {
  id: string;
  value: string;
}

interface SealedCount {
  table: string;
  /** Null when not encrypted. */
  keyId: string | null;
  values: number;
}

/** Creates the store of all encrypted values. */
export function createSealedValueStore(pool: Pool, box: SecretBox) {
  /** Yields the values of a column, a batch at a time. */
  async function* valuesOf({ table, id, column }: SealedColumn, batch: number): AsyncGenerator<SealedValue> {
    for (let after = ''; ;) {
      const { rows } = await pool.query<SealedValue>(
        `select ${id} as id, ${column} as value from ${table}
         where ${id} > $1 and ${column} is not null order by ${id} limit $2`,
        [after, batch],
      );
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.id;
    }
  }

  async function resealColumn(sealedColumn: SealedColumn, batch: number): Promise<number> {
    const { table, id, column, ownerOf } = sealedColumn;
    let sealed = 0;
    for await (const row of valuesOf(sealedColumn, batch)) {
      if (sealingKeyOf(row.value) === box.keyId) continue;
      const text = openOrNull(box, row.value, ownerOf(row.id));
      if (text === null) continue;
      const { rowCount } = await pool.query(`update ${table} set ${column} = $3 where ${id} = $1 and ${column} = $2`, [
        row.id,
        row.value,
        box.seal(text, ownerOf(row.id)),
      ]);
      sealed += rowCount ?? 0;
    }
    return sealed;
  }

  return {
    /**
     * Re-encrypts the values that are not encrypted with the first key, a batch at a time. Values that change meanwhile
     * are skipped, and those whose key is missing stay as they are. Returns how many it re-encrypted.
     */
    async reseal({ batch = 100 }: { batch?: number } = {}): Promise<number> {
      let sealed = 0;
      for (const column of sealedColumns) sealed += await resealColumn(column, batch);
      return sealed;
    },

    /** Returns how many values are stored under each key. */
    async count(): Promise<SealedCount[]> {
      const counts: SealedCount[] = [];
      for (const { table, column } of sealedColumns) {
        const { rows } = await pool.query<Omit<SealedCount, 'table'>>(
          `select case when starts_with(${column}, 'enc:v1:') then split_part(${column}, ':', 3) end as "keyId",
                  count(*)::integer as values
           from ${table} where ${column} is not null group by 1 order by 1`,
        );
        counts.push(...rows.map((row) => ({ table, ...row })));
      }
      return counts;
    },

    /** Returns how many values cannot be decrypted, by the id of their key, which is missing or has changed. */
    async countUnopened(): Promise<Map<string, number>> {
      const unopened = new Map<string, number>();
      for (const column of sealedColumns) {
        for await (const { id, value } of valuesOf(column, 100)) {
          const keyId = sealingKeyOf(value);
          if (keyId === null || openOrNull(box, value, column.ownerOf(id)) !== null) continue;
          unopened.set(keyId, (unopened.get(keyId) ?? 0) + 1);
        }
      }
      return unopened;
    },

    /** Returns the ended turns whose history is only in Temporal, encrypted as it was written. */
    async countWaitingHistories(): Promise<number> {
      const { rows } = await pool.query<{ waiting: number }>(
        `select count(*)::integer as waiting from job_history_exports where state = 'waiting'`,
      );
      return onlyRow(rows).waiting;
    },
  };
}

function openOrNull(box: SecretBox, value: string, owner: string): string | null {
  try {
    return box.open(value, owner);
  } catch (error) {
    if (error instanceof SealedError) return null;
    throw error;
  }
}
