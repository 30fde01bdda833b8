import { describe, expect, it } from 'vitest';
import { agentJobSchema } from '../../../../db/jobs/agent-job.ts';
import { createIdleEndings } from '../../../../db/for-worker/idle-endings.ts';
import { createCancelStore, createOutboxStore } from '../../../../db/jobs/outbox.ts';
import type { JobRow } from '../../../../db/jobs/jobs.ts';
import { buildJob, buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { comparable, serveApi } from '../serve.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));
const project = ofFile(() => buildProject(database.pool));
const admin = ofFile(() => buildKey(database.pool, project));

function job(columns: Partial<JobRow> = {}): Promise<JobRow> {
  return buildJob(database.pool, project, columns);
}

const ended = { endedAt: new Date(), phase: null };

async function act(id: string, action: string, json?: unknown, headers: Record<string, string> = {}) {
  const { key } = admin;
  return api.ask(`/v2/agent/${project.id}/job/${id}/${action}`, { method: 'POST', key, json, headers });
}

async function rowsOf(table: string, id: string): Promise<unknown[]> {
  return (await database.pool.query(`select * from ${table} where job_id = $1`, [id])).rows;
}

describe('a message', () => {
  it('to an active job waits for its next step', async () => {
    const { id } = await job();
    const sent = await act(id, 'message', { prompt: 'And the title too.' });
    expect(sent.status).toBe(200);
    expect(agentJobSchema.strict().parse(sent.body)).toMatchObject({ id, status: 'active' });
    expect(await rowsOf('job_messages', id)).toMatchObject([
      { turn: 1, position: 1, prompt: 'And the title too.', step: null },
    ]);
    expect(await rowsOf('job_turns', id)).toHaveLength(1);
    expect(sent.headers.get('ratelimit-policy')).toBe('"message";q=100;w=3600');
  });

  it.each(['completed', 'failed'] as const)('to a %s job begins a turn', async (status) => {
    const { id } = await job({
      ...ended,
      status,
      prId: 'pr_1',
      prLink: 'https://github.com/acme/docs/pull/1',
      failureCategory: status === 'failed' ? 'internal' : null,
    });
    await createOutboxStore(database.pool).remove({ jobId: id, turn: 1 });
    const before = api.created.count;
    const sent = await act(id, 'message', { prompt: 'Once more.' });
    expect(sent.body).toMatchObject({
      status: 'active',
      prLink: null,
      details: { phase: 'queued', failure: null, pullRequest: { state: 'open' } },
    });
    expect(await rowsOf('job_turns', id)).toMatchObject([
      { turn: 1 },
      { turn: 2, prompt: 'Once more.', status: 'active' },
    ]);
    expect(await rowsOf('job_outbox', id)).toMatchObject([{ turn: 2 }]);
    expect(api.created.count).toBe(before + 1);
  });

  it('of many at once starts one turn, and the others join it', async () => {
    const { id } = await job({ ...ended, status: 'completed' });
    const sent = await Promise.all(Array.from({ length: 8 }, (_, at) => act(id, 'message', { prompt: `${at}` })));
    expect(sent.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(await rowsOf('job_turns', id)).toHaveLength(2);
    expect(await rowsOf('job_messages', id)).toHaveLength(7);
  });

  it('with a key is sent once, and its repetition is answered even after the job was archived', async () => {
    const { id } = await job({ ...ended, status: 'completed' });
    const headers = { 'Idempotency-Key': 'once' };
    const first = await act(id, 'message', { prompt: 'Again.' }, headers);
    expect(first.headers.get('idempotent-replay')).toBeNull();
    const second = await act(id, 'message', { prompt: 'Again.' }, headers);
    expect([second.status, second.headers.get('idempotent-replay')]).toEqual([200, 'true']);
    expect(await rowsOf('job_turns', id)).toHaveLength(2);
    expect(await rowsOf('job_messages', id)).toEqual([]);
    expect((await act(id, 'message', { prompt: 'Other.' }, headers)).status).toBe(409);
    await act(id, 'cancel');
    await act(id, 'archive');
    expect((await act(id, 'message', { prompt: 'Again.' }, headers)).body.status).toBe('archived');
  });

  it('to an archived job is refused, as is an empty one', async () => {
    const { id } = await job({ ...ended, status: 'archived', archivedAt: new Date() });
    const refused = await act(id, 'message', { prompt: 'Hello?' });
    expect(refused.status).toBe(409);
    expect(refused.body).toEqual({ error: 'The job is archived; unarchive it or create a new job.' });
    const active = await job();
    expect((await act(active.id, 'message', { prompt: ' ' })).status).toBe(400);
    expect((await act(active.id, 'message')).status).toBe(400);
  });
});

it('a message that asks for a merge of the base branch needs an open pull request and a job that is not running', async () => {
  const send = async (row: Parameters<typeof job>[0]) => {
    const { id } = await job(row);
    const { status } = await act(id, 'message', { prompt: 'Resolve it.', mergeBase: true });
    const { rows } = await database.pool.query('select turn from job_turns where job_id = $1 and merge_base', [id]);
    return { status, turns: rows };
  };
  const open = { ...ended, status: 'completed', branch: 'docket/x', prId: '7', prState: 'open' } as const;
  expect(await send(open)).toEqual({ status: 200, turns: [{ turn: 2 }] });
  const refused = { status: 409, turns: [] };
  expect(await send({ ...open, prState: 'closed' })).toEqual(refused);
  expect(await send({ ...open, prId: null, prState: null })).toEqual(refused);
  expect(await send({ branch: 'docket/x', prId: '7', prState: 'open' })).toEqual(refused);
});

describe('a cancel', () => {
  it('fails an active job at once, is recorded for Temporal, and can be repeated', async () => {
    const { id } = await job();
    await act(id, 'message', { prompt: 'Too late.' });
    const cancelled = await act(id, 'cancel');
    expect(cancelled.status).toBe(200);
    expect(cancelled.body).toMatchObject({
      status: 'failed',
      prLink: null,
      details: { failure: { category: 'cancelled' } },
    });
    expect((await act(id, 'cancel')).body).toEqual(cancelled.body);
    expect(await rowsOf('job_outbox', id)).toEqual([]);
    expect(await rowsOf('job_cancels', id)).toHaveLength(1);
    expect(await createCancelStore(database.pool).claimDue({ limit: 50, leaseMs: 1 })).toContainEqual({
      jobId: id,
      turn: 1,
      organizationId: project.organizationId,
    });
    expect((await act(id, 'message', { prompt: 'Go on after all.' })).body.status).toBe('active');
    const { body } = await api.ask(`/v2/agent/${project.id}/job/${id}/events`, { key: admin.key });
    expect(body.events).toMatchObject([
      { type: 'phase', turn: 1, data: { phase: 'queued' } },
      { type: 'message', turn: 1, data: { text: 'Too late.', characters: 9 } },
      { type: 'failure', turn: 1, data: { category: 'cancelled' } },
      { type: 'message', turn: 2, data: { text: 'Go on after all.' } },
      { type: 'phase', turn: 2, data: { phase: 'queued' } },
    ]);
  });

  it('leaves a completed job as it is and is refused for an archived one', async () => {
    const completed = await job({ ...ended, status: 'completed' });
    expect((await act(completed.id, 'cancel')).body.status).toBe('completed');
    expect(await rowsOf('job_cancels', completed.id)).toEqual([]);
    const archived = await job({ ...ended, status: 'archived' });
    expect((await act(archived.id, 'cancel')).status).toBe(409);
  });
});

describe('an archive', () => {
  it('accepts ended jobs, can be repeated, and refuses an active one', async () => {
    const { id } = await job({ ...ended, status: 'failed', failureCategory: 'internal' });
    const archived = await act(id, 'archive');
    expect(archived.body).toMatchObject({ status: 'archived', archivedAt: expect.any(String) });
    expect((await act(id, 'archive')).body).toEqual(archived.body);
    const refused = await act((await job()).id, 'archive');
    expect([refused.status, Object.keys(refused.body)]).toEqual([409, ['error']]);
  });

  it('can be undone, which restores the status, until a part of the job was removed', async () => {
    for (const change of [{ status: 'completed' }, { status: 'failed', failureCategory: 'internal' }] as const) {
      const { id } = await job({ ...ended, ...change });
      await act(id, 'archive');
      const undone = await act(id, 'unarchive');
      expect(undone.body).toMatchObject({ status: change.status, archivedAt: null });
      expect((await act(id, 'unarchive')).body).toEqual(undone.body);
      await act(id, 'archive');
      await database.pool.query('update jobs set records_removed_at = now() where id = $1', [id]);
      expect((await act(id, 'unarchive')).status).toBe(409);
    }
    const active = await job();
    expect((await act(active.id, 'unarchive')).body).toMatchObject({ status: 'active' });
  });

  it('happens automatically 30 days after the end, and 30 days after it was undone', async () => {
    const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * 60_000);
    const old = await job({ status: 'completed', phase: null, endedAt: daysAgo(31) });
    const recent = await job({ status: 'completed', phase: null, endedAt: daysAgo(29) });
    const endings = createIdleEndings(database.pool);
    expect(await endings.archiveIdle({ idleDays: 30, limit: 10 })).toBe(1);
    expect(await endings.archiveIdle({ idleDays: 30, limit: 10 })).toBe(0);
    const statusOf = async ({ id }: JobRow) =>
      (await api.ask(`/v2/agent/${project.id}/job/${id}`, { key: admin.key })).body.status;
    expect([await statusOf(old), await statusOf(recent)]).toEqual(['archived', 'completed']);
    await act(old.id, 'unarchive');
    expect(await endings.archiveIdle({ idleDays: 30, limit: 10 })).toBe(0);
    await database.pool.query(`update jobs set unarchived_at = now() - interval '31 days' where id = $1`, [old.id]);
    expect(await endings.archiveIdle({ idleDays: 30, limit: 10 })).toBe(1);
  });
});

it.each(['message', 'cancel', 'archive', 'unarchive'])(
  '%s of a foreign job reads like one of none, and needs an admin key',
  async (action) => {
    const { id } = await job();
    const stranger = await buildKey(database.pool, await buildProject(database.pool));
    const path = (jobId: string) => `/v2/agent/${project.id}/job/${jobId}/${action}`;
    const request = { method: 'POST', json: { prompt: 'x' } };
    const foreign = await api.ask(path(id), { ...request, key: stranger.key });
    expect(foreign.status).toBe(404);
    expect(comparable(foreign)).toEqual(comparable(await api.ask(path('job_none'), { ...request, key: stranger.key })));
    expect((await api.ask(path(id), request)).status).toBe(401);
    const assistant = await buildKey(database.pool, { organizationId: project.organizationId, kind: 'assistant' });
    expect((await api.ask(path(id), { ...request, key: assistant.key })).status).toBe(403);
    expect((await api.ask(path(id), { key: admin.key })).status).toBe(405);
  },
);
