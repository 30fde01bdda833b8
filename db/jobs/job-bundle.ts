import type { Pool } from 'pg';
import type { Owner } from '../caller.ts';
import type { BundleRecordOf } from './bundle-schema.ts';

/** Rows per statement: of events, and of steps, which may have a patch of 1 MB each. */
const page = 50;
const stepPage = 10;
const packBytes = 1024 * 1024;

const jobStatement = `
  select 'job' as piece, id, project_id as "projectId", status, turn, repository, requested_ref as "requestedRef",
         base_branch as "baseBranch", base_commit as "baseCommit", model, draft, title, message, branch,
         head_commit as "headCommit", pr_link as "prLink", failure_category as "failureCategory",
         case when forked_from is not null
              then jsonb_build_object('jobId', forked_from, 'turn', forked_turn, 'step', forked_step) end as "forkedFrom",
         to_json(records_removed_at) as "recordsRemovedAt", to_json(created_at) as "createdAt",
         to_json(ended_at) as "endedAt", to_json(archived_at) as "archivedAt"
  from jobs where id = $1 and organization_id = $2`;

/** Rows that prompts are built from. A job has few, so they need no pages. */
const promptStatements = [
  `select 'turn' as piece, turn, prompt, images, status, base_commit as "baseCommit", tree, tree_step as "treeStep",
          first_tree as "firstTree", to_json(created_at) as "createdAt", to_json(ended_at) as "endedAt"
   from job_turns where job_id = $1 order by turn`,
  `select 'message' as piece, turn, position, step, prompt, images, to_json(created_at) as "createdAt"
   from job_messages where job_id = $1 order by turn, position`,
  `select 'note' as piece, turn, step, kind, text from job_notes where job_id = $1 order by turn, step, kind`,
  `select 'compaction' as piece, turn, step, upto_turn as "uptoTurn", upto_step as "uptoStep", summary, ledger, tree,
          jsonb_build_object('inputTokens', input_tokens, 'outputTokens', output_tokens) as usage
   from job_compactions where job_id = $1 order by turn, step`,
  `select 'tools' as piece, hash, definitions from job_tools where job_id = $1 order by hash`,
];
const smallStatements = [
  ...promptStatements,
  `select 'effect' as piece, turn, effect, fence::float8 as fence, failures, result
   from job_effects where job_id = $1 order by turn, effect`,
  `select 'export' as piece, turn, state, is_whole as "isWhole"
   from job_history_exports where job_id = $1 order by turn`,
];

const eventsStatement = `
  select 'event' as piece, seq::float8 as seq, turn, step, type, data, to_json(created_at) as "createdAt"
  from job_events where job_id = $1 and seq > $2 and type not in ('text', 'output') order by seq limit $3`;

const historyStatement = `
  select 'history' as piece, turn, run, run_id as "runId", event_count as "eventCount", build_ids as "buildIds", history
  from job_histories where job_id = $1 and (turn, run) > ($2, $3) order by turn, run limit 1`;

const instructionsStatement = `
  select 'effect' as piece, turn, effect, fence::float8 as fence, failures, result
  from job_effects where job_id = $1 and effect = 'instructions' and turn <= $2 order by turn`;

const stepsStatement = (patch: 'patch' | 'null', condition = 'true') => `
  select 'step' as piece, turn, step, fence::float8 as fence, model, request_hash as "requestHash",
         tools_hash as "toolsHash", response, finish_reason as "finishReason", input_tokens::float8 as "inputTokens", output_tokens::float8 as "outputTokens",
         cached_tokens::float8 as "cachedTokens", cache_write_tokens::float8 as "cacheWriteTokens", cost_micros::float8 as "costMicros", tool_results as "toolResults", tree, ${patch} as patch,
         model_failures as "modelFailures", to_json(started_at) as "startedAt", to_json(answered_at) as "answeredAt",
         to_json(ended_at) as "endedAt"
  from job_steps where job_id = $1 and (turn, step) > ($2, $3) and ${condition} order by turn, step limit $4`;

/** Condition: a step is in the prompt of step $6 of turn $5: it is not later, and no summary replaces it there. */
const isInPrompt = `(turn, step) <= ($5, $6) and not exists (
    select from job_compactions as summaries
    where job_id = $1 and (summaries.turn, summaries.step) <= ($5, $6)
      and (job_steps.turn, job_steps.step) <= (upto_turn, upto_step)
  )`;

export type JobBundleStore = ReturnType<typeof createJobBundleStore>;

/** Creates the store of complete records of jobs, for analysis. */
export function createJobBundleStore(pool: Pool) {
  return {
    /**
     * Yields the stored rows of a job as JSON of the type `BundleRecord`; nothing for an unknown job. Snapshots come last, after the rows that name their trees. The rows contain what the model read and wrote, and changed content of the repository, but no keys or tokens.
     */
    read: (owner: Owner, jobId: string): AsyncGenerator<string> => readJobRecord(pool, owner, jobId),
    /** Yields only the records from which the model request of a step is built. */
    readPrompt: (owner: Owner, jobId: string, at: { turn: number; step: number }): AsyncGenerator<string> =>
      readPrompt(pool, owner, { jobId, ...at }),
  };
}

/** A record as JSON. PostgreSQL writes it: to parse and write a large one here would block the event loop. */
interface Line {
  line: string;
}

/** Returns a statement whose rows are records as JSON. `position` names the columns that the next page starts after. */
function asLines(statement: string, position: string[] = []): string {
  return `select ${['to_json(record)::text as line', ...position].join(', ')} from (${statement}) as record`;
}

async function* linesOf<Row extends Line>(
  pool: Pool,
  statement: string,
  values: unknown[],
): AsyncGenerator<string, Row[]> {
  const { rows } = await pool.query<Row>(statement, values);
  for (const { line } of rows) yield line;
  return rows;
}

/** Yields the steps of a job that a statement selects, a page at a time; `values` are those after the limit. */
async function* stepLines(
  pool: Pool,
  jobId: string,
  { statement, values }: { statement: string; values: unknown[] },
): AsyncGenerator<string> {
  const lines = asLines(statement, ['turn', 'step']);
  for (let after = { turn: 0, step: 0 }; ;) {
    const position = [jobId, after.turn, after.step, stepPage];
    const steps = yield* linesOf<Line & typeof after>(pool, lines, [...position, ...values]);
    const last = steps.at(-1);
    if (last === undefined || steps.length < stepPage) return;
    after = last;
  }
}

async function* readPrompt(
  pool: Pool,
  { organizationId }: Owner,
  { jobId, turn, step }: { jobId: string; turn: number; step: number },
): AsyncGenerator<string> {
  const jobs = yield* linesOf(pool, asLines(jobStatement), [jobId, organizationId]);
  if (jobs.length === 0) return;
  for (const statement of promptStatements) yield* linesOf(pool, asLines(statement), [jobId]);
  yield* linesOf(pool, asLines(instructionsStatement), [jobId, turn]);
  yield* stepLines(pool, jobId, { statement: stepsStatement('null', isInPrompt), values: [turn, step] });
}

async function* readJobRecord(pool: Pool, { organizationId }: Owner, jobId: string): AsyncGenerator<string> {
  const jobs = yield* linesOf(pool, asLines(jobStatement), [jobId, organizationId]);
  if (jobs.length === 0) return;
  for (const statement of smallStatements) yield* linesOf(pool, asLines(statement), [jobId]);
  yield* readHistories(pool, jobId);
  for (let after = 0; ;) {
    const statement = asLines(eventsStatement, ['seq']);
    const events = yield* linesOf<Line & { seq: number }>(pool, statement, [jobId, after, page]);
    const last = events.at(-1);
    if (last === undefined || events.length < page) break;
    after = last.seq;
  }
  yield* stepLines(pool, jobId, { statement: stepsStatement('patch'), values: [] });
  yield* readImages(pool, jobId);
  yield* readSnapshots(pool, jobId);
}

async function* readImages(pool: Pool, jobId: string): AsyncGenerator<string> {
  for (let after = ''; ;) {
    const { rows } = await pool.query<{ hash: string; content: Buffer }>(
      'select hash, content from job_images where job_id = $1 and hash > $2 order by hash limit 1',
      [jobId, after],
    );
    const [row] = rows;
    if (row === undefined) return;
    const record: BundleRecordOf<'image'> = { piece: 'image', hash: row.hash, data: row.content.toString('base64') };
    yield JSON.stringify(record);
    after = row.hash;
  }
}

async function* readHistories(pool: Pool, jobId: string): AsyncGenerator<string> {
  for (let after = { turn: 0, run: 0 }; ;) {
    const { rows } = await pool.query<Omit<BundleRecordOf<'history'>, 'history'> & { history: Buffer }>(
      historyStatement,
      [jobId, after.turn, after.run],
    );
    const [row] = rows;
    if (row === undefined) return;
    const record: BundleRecordOf<'history'> = { ...row, history: row.history.toString('base64') };
    yield JSON.stringify(record);
    after = row;
  }
}

async function* readSnapshots(pool: Pool, jobId: string): AsyncGenerator<string> {
  const trees = await pool.query<{ tree: string; bytes: number }>(
    'select tree, length(pack) as bytes from job_snapshots where job_id = $1 order by created_at, tree',
    [jobId],
  );
  for (const { tree, bytes } of trees.rows) {
    const { rows } = await pool.query<Line>(
      asLines(`select 'snapshot' as piece, tree, commit, base_commit as "baseCommit", patch, changed_files as "changedFiles",
              removed_at is not null as "isRemoved"
       from job_snapshots where job_id = $1 and tree = $2`),
      [jobId, tree],
    );
    for (const { line } of rows) yield line;
    for (let from = 1; from <= bytes; from += packBytes) {
      const part = await pool.query<{ data: Buffer }>(
        'select substring(pack from $3 for $4) as data from job_snapshots where job_id = $1 and tree = $2',
        [jobId, tree, from, packBytes],
      );
      for (const { data } of part.rows) {
        const record: BundleRecordOf<'pack'> = { piece: 'pack', tree, data: data.toString('base64') };
        yield JSON.stringify(record);
      }
    }
  }
}
