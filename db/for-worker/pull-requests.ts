import type { Pool } from 'pg';
import { canBeId, newId } from '../ids.ts';
import { withTransaction } from '../pool.ts';
import { pullRequestColumns, type PullRequestRow } from '../pull-requests/pull-requests.ts';
import { onlyRow } from '../rows.ts';
import { toStoredText } from '../stored-text.ts';

export type WorkerPullRequestStore = ReturnType<typeof createWorkerPullRequestStore>;

/** Stores pull requests of the local forge, numbered within their repository. */
export function createWorkerPullRequestStore(pool: Pool) {
  /** Creates one per (repository, head): a second create returns the first one, so two attempts never create two. */
  async function create(
    request: Omit<PullRequestRow, 'id' | 'number' | 'state' | 'createdAt' | 'updatedAt'>,
  ): Promise<PullRequestRow> {
    const { repository, head, base, title, body, draft } = request;
    return withTransaction(pool, async (client) => {
      // one create per repository at a time: the number is the highest so far plus one
      await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`pull-requests ${repository}`]);
      const existing = await client.query<PullRequestRow>(byHead, [repository, head]);
      const [first] = existing.rows;
      if (first !== undefined) return first;
      const { rows } = await client.query<PullRequestRow>(
        `insert into pull_requests (id, repository, number, head, base, title, body, draft)
         select $1, $2, coalesce(max(number), 0) + 1, $3, $4, $5, $6, $7
         from pull_requests where repository = $2 and job_id is null
         returning ${pullRequestColumns}`,
        [newId('pr_'), repository, head, base, toStoredText(title), toStoredText(body), draft],
      );
      return onlyRow(rows);
    });
  }

  async function update(
    id: string,
    change: { title?: string; body?: string; draft?: boolean },
  ): Promise<PullRequestRow | null> {
    const { rows } = await pool.query<PullRequestRow>(
      `update pull_requests
       set title = coalesce($2, title), body = coalesce($3, body), draft = coalesce($4, draft), updated_at = now()
       where id = $1 returning ${pullRequestColumns}`,
      [id, storedOrNull(change.title), storedOrNull(change.body), change.draft ?? null],
    );
    return rows[0] ?? null;
  }

  async function findByHead(repository: string, head: string): Promise<PullRequestRow | null> {
    const { rows } = await pool.query<PullRequestRow>(byHead, [repository, head]);
    return rows[0] ?? null;
  }

  async function get(id: string): Promise<PullRequestRow | null> {
    if (!canBeId(id)) return null;
    const { rows } = await pool.query<PullRequestRow>(`select ${pullRequestColumns} from pull_requests where id = $1`, [
      id,
    ]);
    return rows[0] ?? null;
  }

  return { create, update, findByHead, get };
}

const byHead = `
  select ${pullRequestColumns} from pull_requests where repository = $1 and head = $2 and job_id is null`;

function storedOrNull(text: string | undefined): string | null {
  return text === undefined ? null : toStoredText(text);
}
