import { describe, expect, it } from 'vitest';
import { operatorOf } from '../../../../db/caller.ts';
import { newId } from '../../../../db/ids.ts';
import { createJobForkStore } from '../../../../db/jobs/job-forks.ts';
import { createPool, withTransaction } from '../../../../db/pool.ts';
import { passedQuota } from '../../../../db/organizations/quotas.ts';
import { SnapshotRemovedError } from '../../../../db/jobs/snapshot-removed.ts';
import { createSweeps } from '../../../../db/for-service/sweeps.ts';
import { createRetentionStore, type Retention } from '../../../../db/for-worker/retention.ts';
import { storeSnapshot } from '../../../../db/for-worker/snapshots.ts';
import { buildJob, buildKey, buildProject, buildSite } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { readSchema } from '../../../support/database/foreign-rows.ts';
import { serveApi } from '../../api/serve.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const ofJob = 'goes with its job, which is deleted a time after it was archived (DOCKET_JOB_DAYS)';
const ofSite = 'goes with its site, whose number has a quota';
const ofThread = 'goes with its conversation';

/** The bound of each table: how long its rows are kept, or how many there can be. New tables must be added. */
const bounds: Record<string, string> = {
  answer_holds: '10 minutes',
  api_keys: 'quota on valid ones; others go after 400 days',
  audit_entries: 'DOCKET_AUDIT_DAYS',
  chores: 'one for each name in the code',
  cost_reservations: ofJob,
  evaluation_results: 'go with their evaluation, 400 at most',
  evaluations: '50 a site',
  environment_chunks: 'go with their layer',
  environment_layers: '5 a project, DOCKET_MAX_LAYERS_GB an organization; 30 days unused, failed for a day',
  empty_searches: "the days of their site's retention, 365 at most",
  gap_questions: 'go with their gap',
  gaps: '400 days',
  grants: "the operator's",
  job_cancels: 'until Temporal has confirmed it',
  job_compactions: ofJob,
  job_effects: ofJob,
  job_event_logs: ofJob,
  job_events: 'DOCKET_HISTORY_DAYS after the job was archived',
  job_histories: 'DOCKET_HISTORY_DAYS after the job was archived',
  job_history_exports: ofJob,
  job_images: '20 a job; DOCKET_TRANSCRIPT_DAYS after the job was archived',
  job_message_keys: ofJob,
  job_messages: ofJob,
  job_notes: ofJob,
  job_outbox: 'until Temporal has confirmed it',
  job_snapshots: '512 MB a job, DOCKET_MAX_SNAPSHOT_GB an organization',
  job_steps: 'DOCKET_TRANSCRIPT_DAYS after the job was archived',
  job_tools: 'DOCKET_TRANSCRIPT_DAYS after the job was archived',
  job_turns: ofJob,
  job_totals: 'added up every few seconds to one for each status',
  jobs: 'archived when idle for 30 days, deleted DOCKET_JOB_DAYS later; quota on turns an hour',
  key_uses: '91 days',
  message_feedback: ofThread,
  operation_facts: 'rolled up every few seconds',
  operation_rollups: '100 days',
  operation_start: 'one row',
  organization_growth: 'added up every ten minutes',
  organization_spending: '400 days',
  organizations: "the operator's",
  project_guidance: 'goes with its project',
  project_repositories: 'goes with its project',
  project_spending: '400 days',
  project_secrets: '100 a project',
  project_tools: 'goes with its project',
  projects: 'quota',
  pull_requests: 'go with their job',
  question_sets: '50 a site',
  rate_limits: 'until their window has passed',
  replies: '10 minutes',
  reply_chunks: 'go with their reply',
  sessions: 'a day after they have expired',
  sign_in_links: 'until they have expired',
  site_index_blocks: 'go with the last index that uses them',
  site_facts: 'rolled up every few seconds',
  site_index_layout: ofSite,
  site_indexes: ofSite,
  site_page_rollups: '400 days, with 500 pages a site and day',
  site_rollups: '400 days',
  site_spending: '400 days',
  sites: 'quota',
  thread_messages: `${ofThread}, which has 200 at most`,
  threads: "the days of their site's retention, and DOCKET_MAX_THREADS an organization",
  unanswered_messages: ofThread,
  webhook_attempts: 'go with their delivery',
  webhook_deliveries: 'go with their message',
  webhook_endpoints: 'quota',
  webhook_messages: '30 days',
  source_threads: '2,000 a source, of 40,000 characters',
  thread_sources: 'one a source',
  website_pages: '2,000 a source, and 100 million characters',
  workers: 'one for each process, and a time after it ended',
};

it('every table has a bound', async () => {
  expect((await readSchema(database.pool)).tables).toEqual(Object.keys(bounds).sort());
});

const generous: Retention = { jobDays: 365, transcriptDays: 180, auditDays: 730, snapshotBytes: 2 ** 40, threads: 1e6 };
const rowsOf = async (statement: string, values: unknown[]) => (await database.pool.query(statement, values)).rows;

it('gaps expire, but not those of another site with the same id', async () => {
  const sites = [await buildSite(database.pool), await buildSite(database.pool)];
  for (const [index, { id }] of sites.entries())
    await database.pool.query(
      `insert into gaps (site_id, id, label, state, created_at)
       values ($1, 'gap_same', 'Lamps', 'answered', now() - $2 * interval '1 day')`,
      [id, index * 500],
    );
  await createRetentionStore(database.pool).sweep(generous);
  expect(await rowsOf(`select site_id from gaps where id = 'gap_same'`, [])).toEqual([{ site_id: sites[0]!.id }]);
});

it('jobs, audit entries, keys and conversations are removed at their age or size limit, and no others', async () => {
  const project = await buildProject(database.pool);
  const { organizationId } = project;
  const long = new Date(Date.now() - 1_000 * 86_400_000);
  await buildJob(database.pool, project, { status: 'archived', archivedAt: long });
  const archived = await buildJob(database.pool, project, { status: 'archived', archivedAt: new Date() });
  const active = await buildJob(database.pool, project, { createdAt: long });
  const valid = await buildKey(database.pool, { organizationId });
  const revoked = await buildKey(database.pool, { organizationId });
  await database.pool.query('update api_keys set revoked_at = $2 where id = $1', [revoked.row.id, long]);
  await database.pool.query(
    `insert into audit_entries (id, organization_id, action, created_at) values ('aud_old', $1, 'a.b', $2), ('aud_new', $1, 'a.b', now())`,
    [organizationId, long],
  );
  const site = await buildSite(database.pool, { organizationId });
  await database.pool.query(
    `insert into threads (id, site_id, organization_id, fp, updated_at)
     select 'thr_kept' || number, $1, $2, 'anonymous', now() - number * interval '1 minute' from generate_series(1, 5) as number`,
    [site.id, organizationId],
  );

  const retention = createRetentionStore(database.pool);
  await retention.bound({ ...generous, threads: 3 });
  expect(await retention.sweep(generous)).toBe(false);
  const ids = async (table: string) =>
    (await rowsOf(`select id from ${table} where organization_id = $1 order by id`, [organizationId])).map(
      (row) => row.id,
    );
  expect(await ids('jobs')).toEqual([active.id, archived.id].sort());
  expect(await ids('api_keys')).toEqual([valid.row.id]);
  expect(await ids('audit_entries')).toContain('aud_new');
  expect(await ids('audit_entries')).not.toContain('aud_old');
  expect(await ids('threads')).toEqual(['thr_kept1', 'thr_kept2', 'thr_kept3']);
  await retention.sweep({ ...generous, jobDays: 0, auditDays: 0 });
  expect(await ids('jobs')).toHaveLength(2);
});

it('sessions, sign-in links, searches without results and spending are removed at their age, and no others', async () => {
  const project = await buildProject(database.pool);
  const { organizationId } = project;
  const { row } = await buildKey(database.pool, { organizationId });
  const site = await buildSite(database.pool, { organizationId, retentionDays: 30 });
  const lasting = await buildSite(database.pool, { organizationId, retentionDays: 3_650 });
  const run = (statement: string, values: unknown[]) => database.pool.query(statement, values);
  await run(
    `insert into sessions (id, organization_id, key_id, expires_at)
     select 'ses_' || hours, $1, $2, now() - hours * interval '1 hour' from unnest(array[23, 25]) as hours`,
    [organizationId, row.id],
  );
  await run(
    `insert into sign_in_links (digest, key_id, expires_at)
     select decode(digest, 'hex'), $1, now() + minutes * interval '1 minute' from (values ('01', -1), ('02', 1)) as links (digest, minutes)`,
    [row.id],
  );
  for (const [{ id }, kept] of [[site, 30] as const, [lasting, 365] as const])
    await run(
      `insert into empty_searches (site_id, day, query) select $1, current_date - days, days from unnest($2::int[]) as days`,
      [id, [kept - 1, kept + 1]],
    );
  await run(
    `insert into project_spending (project_id, day, cost_micros)
     select $1, current_date - days, days from unnest(array[399, 402]) as days`,
    [project.id],
  );

  const sweeps = createSweeps(database.pool);
  await Promise.all([sweeps.sessions(), sweeps.emptySearches(), createRetentionStore(database.pool).sweep(generous)]);
  const left = async (statement: string, id: string) => (await rowsOf(statement, [id])).map(({ of }) => of);
  expect(await left('select id as of from sessions where key_id = $1', row.id)).toEqual(['ses_23']);
  expect(await left(`select encode(digest, 'hex') as of from sign_in_links where key_id = $1`, row.id)).toEqual(['02']);
  const searches = 'select query as of from empty_searches where site_id = $1';
  expect([await left(searches, site.id), await left(searches, lasting.id)]).toEqual([['29'], ['364']]);
  const spent = (of: string) => `select cost_micros::int as of from ${of}_spending where ${of}_id = $1`;
  expect([await left(spent('project'), project.id), await left(spent('organization'), organizationId)]).toEqual([
    [399],
    [399],
  ]);
});

describe('snapshots', () => {
  /** The snapshot and the change of its step. */
  const size = 100_000;
  const patchSize = 30_000;
  const snapshot = (tree: string) => ({
    tree,
    commit: tree,
    baseCommit: 'base',
    pack: Buffer.alloc(size - patchSize, tree),
    patch: '',
    changedFiles: 1,
    additions: 2,
    deletions: 1,
  });
  const contents = async (jobId: string) =>
    (await rowsOf(`select tree, length(pack) as bytes from job_snapshots where job_id = $1 order by tree`, [jobId]))
      .filter(({ bytes }) => bytes > 0)
      .map(({ tree }) => tree);

  const stepsWithChange = async (jobId: string) =>
    (
      await rowsOf(`select tree from job_steps where job_id = $1 and patch is not null order by turn, step`, [jobId])
    ).map(({ tree }) => tree);

  /** A job of two turns with three steps each, with a tree for every step: `1.1` to `2.3`. */
  async function stage(maxBytes?: number) {
    const project = await buildProject(database.pool);
    const job = await buildJob(database.pool, project, {
      status: 'completed',
      turn: 2,
      headTree: '2.3',
      baseCommit: 'base',
    });
    await database.pool.query(`insert into job_turns (job_id, turn, prompt) values ($1, 2, 'More')`, [job.id]);
    for (const [turn, step] of [1, 2].flatMap((turn) => [1, 2, 3].map((step) => [turn, step] as const))) {
      const tree = `${turn}.${step}`;
      await database.pool.query(
        `insert into job_steps (job_id, turn, step, tree, patch, response, tool_results, finish_reason, ended_at)
         values ($1, $2, $3, $4, repeat('+', $5), '{"content": [], "text": "", "toolCalls": [{"toolCallId": "a", "toolName": "write", "input": {}}]}',
                 '[]', 'tool-calls', now())`,
        [job.id, turn, step, tree, patchSize],
      );
      await withTransaction(database.pool, (client) => storeSnapshot(client, job.id, snapshot(tree), maxBytes));
    }
    return { project, job };
  }

  it('of a job above its limit lose their contents, except for the newest and the ends of turns', async () => {
    const { job } = await stage(4.5 * size);
    expect(await contents(job.id)).toEqual(['1.3', '2.1', '2.2', '2.3']);
    expect(await stepsWithChange(job.id)).toEqual(['1.3', '2.1', '2.2', '2.3']);
    const { job: tight } = await stage(1);
    expect(await contents(tight.id)).toEqual(['1.3', '2.3']);
    expect(await stepsWithChange(tight.id)).toEqual(['1.3', '2.3']);
  });

  it('that were removed are reported by forks and diffs; the remaining ones can be forked', async () => {
    const { job, project } = await stage(1);
    const forks = createJobForkStore(database.pool);
    const fork = (turn: number, step: number) =>
      forks.fork(operatorOf(project), {
        id: newId('job_'),
        from: { jobId: job.id, turn, step },
        models: null,
        prompt: null,
        idempotency: null,
      });
    await expect(fork(1, 2)).rejects.toThrow(SnapshotRemovedError);
    expect(await fork(1, 3)).toMatchObject({ kind: 'created' });
    await using api = await serveApi(database.pool);
    const { key } = await buildKey(database.pool, project);
    for (const path of ['steps/1/2/diff', 'diff?turn=1&step=2']) {
      const { status, body } = await api.ask(`/v2/agent/${project.id}/job/${job.id}/${path}`, { key });
      expect([status, body.error]).toEqual([409, new SnapshotRemovedError().message]);
    }
    const refused = await api.ask(`/v2/agent/${project.id}/job/${job.id}/fork`, { key, json: { turn: 1, step: 1 } });
    expect([refused.status, refused.body.error]).toEqual([409, new SnapshotRemovedError().message]);
  });

  it('of an organization above its limit are removed oldest first; if that is not enough, no job starts', async () => {
    const { job, project } = await stage();
    const other = await stage();
    await createRetentionStore(database.pool).bound({ ...generous, snapshotBytes: 4.5 * size });
    expect(await contents(job.id)).toEqual(['1.3', '2.1', '2.2', '2.3']);
    expect(await stepsWithChange(job.id)).toEqual(['1.3', '2.1', '2.2', '2.3']);
    expect(await contents(other.job.id)).toHaveLength(4);
    const held = 'select snapshot_bytes::int as bytes from organizations where id = $1';
    expect(await rowsOf(held, [project.organizationId])).toEqual([{ bytes: 4 * size }]);

    await database.pool.query(`update organizations set snapshot_bytes = 3 * 1073741824::bigint where id = $1`, [
      project.organizationId,
    ]);
    const limited = (snapshotGigabytes: number) =>
      createPool({ url: database.url, maxConnections: 1, applicationName: 'test', quotas: { snapshotGigabytes } });
    const [tight, wide] = [limited(2), limited(3)];
    await using _pools = { [Symbol.asyncDispose]: async () => void (await Promise.all([tight.end(), wide.end()])) };
    const refused = await buildJob(tight, project).catch((error: unknown) => error);
    expect(passedQuota(refused)).toEqual({ name: 'snapshotGigabytes', max: 2 });
    const again = tight.query(`update jobs set status = 'active' where id = $1`, [job.id]);
    expect(passedQuota(await again.catch((error: unknown) => error))).toEqual({ name: 'snapshotGigabytes', max: 2 });
    expect(await buildJob(wide, project)).toMatchObject({ status: 'active' });
  });
});
