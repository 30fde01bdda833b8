import { describe, expect, it } from 'vitest';
import { agentJobSchema } from '../../../../db/jobs/agent-job.ts';
import { createWorkerJobStore } from '../../../../db/for-worker/jobs.ts';
import type { JobRow, Question } from '../../../../db/jobs/jobs.ts';
import { buildJob, buildKey, buildProject, changeProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { serveApi } from '../serve.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));
const project = ofFile(() => buildProject(database.pool));
const admin = ofFile(() => buildKey(database.pool, project));
const stranger = ofFile(async () => buildKey(database.pool, await buildProject(database.pool)));

async function act(id: string, action: string, json?: unknown, key = admin.key) {
  const { status, body, headers } = await api.ask(`/v2/agent/${project.id}/job/${id}/${action}`, {
    method: 'POST',
    key,
    json,
  });
  return { status, body, isReplay: headers.get('idempotent-replay') === 'true' };
}

/** A job that waits for a person. */
async function waiting(question: Question | null = null, columns: Partial<JobRow> = {}): Promise<string> {
  const { pool } = database;
  const { id } = await buildJob(pool, project, { planReview: true, ...columns });
  const wait = { jobId: id, turn: 1, title: 'Plan', plan: question === null ? 'Do it.' : null, question, days: 7 };
  expect(await createWorkerJobStore(pool).wait(wait)).toBe(true);
  return id;
}

async function turnsOf(id: string) {
  const { rows } = await database.pool.query('select turn, prompt, status from job_turns where job_id = $1', [id]);
  return rows;
}

const unchanged = [{ turn: 1, prompt: 'Fix the typo.', status: 'completed' }];

describe('a job that waits', () => {
  it('says what for and until when', async () => {
    const id = await waiting({ text: 'Which license?', choices: ['MIT', 'ISC'] });
    const { body } = await api.ask(`/v2/agent/${project.id}/job/${id}`, { key: admin.key });
    const job = agentJobSchema.parse(body);
    expect(job).toMatchObject({
      status: 'active',
      details: {
        phase: 'waiting',
        waiting: { for: 'answer', turn: 1, question: 'Which license?', choices: ['MIT', 'ISC'] },
      },
    });
    expect(Date.parse(job.details.waiting!.until!) - Date.parse(job.details.waiting!.since!)).toBe(7 * 86_400_000);
  });

  it('names the key that started it, and an operator without one', async () => {
    const { key } = admin;
    const started = await api.ask(`/v2/agent/${project.id}/job`, { key, json: { prompt: 'Go', plan: 'review' } });
    const { id } = started.body;
    const wait = { jobId: id, turn: 1, title: 'Plan', plan: 'Do it.', question: null, days: 7 };
    expect(await createWorkerJobStore(database.pool).wait(wait)).toBe(true);
    const startedBy = async (job: string) =>
      agentJobSchema.parse((await api.ask(`/v2/agent/${project.id}/job/${job}`, { key })).body).details.waiting!
        .startedBy;
    const { rows } = await database.pool.query(
      `select jsonb_build_object('name', coalesce(name, id), 'keyId', id) as actor from api_keys
       where id = (select key_id from audit_entries where subject = $1)`,
      [id],
    );
    expect(await startedBy(id)).toEqual(rows[0].actor);
    expect(await startedBy(await waiting())).toEqual({ name: null, keyId: null });
  });

  it('continues in a new turn with a message', async () => {
    const id = await waiting({ text: 'Which license?', choices: [] });
    const sent = await act(id, 'message', { prompt: 'MIT' });
    expect(sent).toMatchObject({ status: 200, body: { details: { phase: 'queued', waiting: null } } });
    expect(await turnsOf(id)).toEqual([...unchanged, { turn: 2, prompt: 'MIT', status: 'active' }]);
  });
});

describe('an approval', () => {
  it('starts a turn once, however often it is sent', async () => {
    const id = await waiting();
    const before = api.created.count;
    const answers = await Promise.all([1, 2, 3].map(() => act(id, 'approve', { turn: 1, comment: 'Good.' })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.filter(({ isReplay }) => isReplay)).toHaveLength(2);
    expect(api.created.count).toBe(before + 1);
    const prompt = 'The plan is approved. Carry it out now; the tools that change files are available.\n\nGood.';
    expect(await turnsOf(id)).toEqual([...unchanged, { turn: 2, prompt, status: 'active' }]);
    const { rows } = await database.pool.query(
      `select count(*)::integer as count from audit_entries where subject = $1 and action = 'job.approve'`,
      [id],
    );
    expect(rows).toEqual([{ count: 1 }]);
    expect(await act(id, 'approve', { comment: 'Better.' })).toMatchObject({
      status: 409,
      body: { error: 'The plan was already decided. Send a message to tell the agent more.' },
    });
  });

  it.each([
    ['a stranger', async () => waiting(), 404, 'The job was not found.'],
    [
      'a job that only works',
      async () => waiting({ text: '?', choices: [] }, { planReview: false }),
      409,
      'The job has no plan to approve or reject. Create the job with "plan": "review".',
    ],
    [
      'a question',
      async () => waiting({ text: '?', choices: [] }),
      409,
      'The agent waits for the answer to its question. Send it as a message.',
    ],
    [
      'a job that plans',
      async () => (await buildJob(database.pool, project, { planReview: true })).id,
      409,
      'The plan is not ready. Try again when details.phase is waiting.',
    ],
    [
      'an ended job',
      async () => {
        const id = await waiting();
        expect(await act(id, 'cancel')).toMatchObject({ status: 200 });
        return id;
      },
      409,
      'The job has ended without a decision about its plan. Send a follow-up message to continue.',
    ],
    [
      'a job whose deadline has passed',
      async () => {
        const id = await waiting();
        await database.pool.query(`update jobs set wait_until = now() - interval '1 second' where id = $1`, [id]);
        return id;
      },
      409,
      'The job has ended without a decision about its plan. Send a follow-up message to continue.',
    ],
    [
      'an archived job',
      async () => {
        const id = await waiting();
        await act(id, 'cancel');
        await act(id, 'archive');
        return id;
      },
      409,
      'The job is archived; unarchive it or create a new job.',
    ],
  ] as const)('of %s is refused', async (who, build, status, error) => {
    const id = await build();
    const before = await turnsOf(id);
    const key = who === 'a stranger' ? stranger.key : admin.key;
    for (const action of ['approve', 'reject'])
      expect(await act(id, action, {}, key)).toMatchObject({ status, body: { error } });
    expect(await turnsOf(id)).toEqual(before);
  });

  it('of the plan of another turn is refused', async () => {
    const id = await waiting();
    expect(await act(id, 'approve', { turn: 2 })).toMatchObject({
      status: 409,
      body: { error: 'The job has no such turn. Send details.waiting.turn as you have read it.' },
    });
    expect(await act(id, 'approve', { comment: ' ' })).toMatchObject({ status: 400 });
    expect(await turnsOf(id)).toEqual(unchanged);
    await act(id, 'message', { prompt: 'Plan again' });
    const wait = { jobId: id, turn: 2, title: 'Plan', plan: 'Do less.', question: null, days: 7 };
    expect(await createWorkerJobStore(database.pool).wait(wait)).toBe(true);
    for (const action of ['approve', 'reject'])
      expect(await act(id, action, { turn: 1 })).toMatchObject({
        status: 409,
        body: { error: 'There is a newer plan. Read it, then decide again.' },
      });
  });
});

describe('an answer to a question', () => {
  const keep = { text: 'Keep the old API?', choices: ['Yes', 'No'] };

  it('that names its turn is refused once the job has gone on', async () => {
    const id = await waiting(keep, { planReview: false });
    expect(await act(id, 'message', { prompt: 'Yes', turn: 2 })).toMatchObject({
      status: 409,
      body: { error: 'The job has no such turn. Send details.waiting.turn as you have read it.' },
    });
    expect(await act(id, 'message', { prompt: 'No', turn: 1 })).toMatchObject({ status: 200 });
    const gone = {
      status: 409,
      body: {
        error:
          'The job has changed since you read it, so this message was not sent. Read the job, then send the message again.',
      },
    };
    expect(await act(id, 'message', { prompt: 'Yes', turn: 1 })).toMatchObject(gone);
    const question = { text: 'Delete the data?', choices: ['Yes', 'No'] };
    const wait = { jobId: id, turn: 2, title: null, plan: null, question, days: 7 };
    expect(await createWorkerJobStore(database.pool).wait(wait)).toBe(true);
    expect(await act(id, 'message', { prompt: 'Yes', turn: 1 })).toMatchObject(gone);
    expect(await turnsOf(id)).toMatchObject([{ turn: 1 }, { turn: 2, prompt: 'No' }]);
    expect(await act(id, 'message', { prompt: 'Yes' })).toMatchObject({ status: 200 });
  });

  it('is sent once with a key, also when it is repeated after the job has gone on', async () => {
    const id = await waiting(keep);
    const send = (turn: number) =>
      api.ask(`/v2/agent/${project.id}/job/${id}/message`, {
        method: 'POST',
        key: admin.key,
        json: { prompt: 'Yes', turn },
        headers: { 'Idempotency-Key': 'answer' },
      });
    expect(await send(1)).toMatchObject({ status: 200 });
    const repeated = await send(1);
    expect([repeated.status, repeated.headers.get('idempotent-replay')]).toEqual([200, 'true']);
    expect(await send(2)).toMatchObject({ status: 409 });
    expect(await turnsOf(id)).toHaveLength(2);
  });
});

describe('a rejection', () => {
  it('ends the job once, with its reason', async () => {
    const id = await waiting();
    const rejected = await act(id, 'reject', { reason: 'Too large.' });
    expect(rejected).toMatchObject({
      status: 200,
      body: {
        status: 'failed',
        details: {
          plan: 'Do it.',
          waiting: null,
          message: 'The plan was rejected: Too large.',
          failure: { category: 'plan_rejected', retryable: false },
        },
      },
    });
    expect(await act(id, 'reject', { reason: 'Too large.' })).toMatchObject({ status: 200, isReplay: true });
    expect(await act(id, 'reject', { reason: 'Other.' })).toMatchObject({ status: 409 });
    expect(await act(id, 'approve')).toMatchObject({
      status: 409,
      body: { error: 'The plan was rejected. Send a follow-up message to ask for another one.' },
    });
    expect(await turnsOf(id)).toEqual(unchanged);
  });
});

describe('a new job', () => {
  it('plans and asks as its project says, unless it says otherwise', async () => {
    const { pool } = database;
    const project = await buildProject(pool);
    const { key } = await buildKey(pool, project);
    const create = async (body: object) => {
      const created = await api.ask(`/v2/agent/${project.id}/job`, {
        method: 'POST',
        key,
        json: { prompt: 'Go', ...body },
      });
      expect(created.status).toBe(201);
      const { rows } = await pool.query('select plan_review, may_ask from jobs where id = $1', [created.body.id]);
      return Object.values(rows[0]);
    };
    expect(await create({})).toEqual([false, false]);
    expect(await create({ plan: 'review', ask: true })).toEqual([true, true]);
    await changeProject(pool, project.id, { planReview: true, mayAsk: true });
    expect(await create({})).toEqual([true, true]);
    expect(await create({ plan: 'none', ask: false })).toEqual([false, false]);
  });
});
