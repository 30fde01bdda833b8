import { expect, it } from 'vitest';
import { createStepStore } from '../../../../db/for-worker/steps.ts';
import { createWorkerJobStore } from '../../../../db/for-worker/jobs.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { createOwner, receiver, type Owner } from '../access/owner.ts';
import { serveApi, type Answer } from '../serve.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool, { DOCKET_WEBHOOK_ALLOWED_HOSTS: new URL(receiver).host }));

interface Scene extends Owner {
  act(path: string, json?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Audit entries written by the requests of this test so far. */
  entries(): Promise<{ action: string; subject: string; details: Record<string, unknown> }[]>;
}

async function scene(): Promise<Scene> {
  const owner = await createOwner(database.pool, api);
  const before = await database.pool.query('select id from audit_entries');
  const known = before.rows.map(({ id }) => id);
  return {
    ...owner,
    act: (path, json = {}, headers) => api.ask(path, { key: owner.keys.admin, method: 'POST', json, headers }),
    async entries() {
      const { rows } = await database.pool.query(
        `select action, subject, details from audit_entries
         where organization_id = $1 and key_id is not null and id <> all ($2) order by created_at, id`,
        [owner.organizationId, known],
      );
      return rows;
    },
  };
}

it('records who created, messaged, cancelled, forked and archived a job, once for each change', async () => {
  const { act, entries, ids } = await scene();
  const jobs = `/v2/agent/${ids['agent']}/job`;
  const key = { 'idempotency-key': 'once' };
  const { body: job } = await act(jobs, { prompt: 'Go.' }, key);
  await act(jobs, { prompt: 'Go.' }, key);
  expect((await act(jobs, { prompt: 'Another.' }, key)).status).toBe(409);
  const path = `${jobs}/${job.id}`;
  await act(`${path}/message`, { prompt: 'On.' }, key);
  await act(`${path}/message`, { prompt: 'On.' }, key);
  expect((await act(`${path}/archive`)).status).toBe(409);
  const steps = createStepStore(database.pool);
  const step = { jobId: job.id, turn: 1, step: 1 };
  const { fence } = await steps.claim(step);
  const response = { content: [], text: '', toolCalls: [{ toolCallId: 'c', toolName: 'read', input: {} }] };
  const usage = { inputTokens: 1, outputTokens: 1 };
  await steps.storeResponse({
    ...step,
    model: 'offline/editor',
    requestHash: 'h',
    response,
    finishReason: 'stop',
    usage,
    costMicros: 0,
  });
  await steps.storeResults({ ...step, fence, results: [], tree: 'tree', snapshot: null, patch: null });
  const { body: fork } = await act(`${path}/fork`, { step: 1 });
  expect((await act(`${path}/fork`, { step: 9 })).status).toBe(409);
  await act(`${path}/cancel`);
  await act(`${path}/cancel`);
  await act(`${path}/message`, { prompt: 'And on.' });
  await createWorkerJobStore(database.pool).finish({
    jobId: job.id,
    turn: 2,
    status: 'completed',
    failureCategory: null,
  });
  await act(`${path}/archive`);
  await act(`${path}/archive`);
  await act(`${path}/unarchive`);
  await act(`${path}/unarchive`);
  expect(await entries()).toEqual([
    { action: 'job.create', subject: job.id, details: { projectId: ids['agent'] } },
    { action: 'job.message', subject: job.id, details: { turn: 1 } },
    { action: 'job.fork', subject: fork.id, details: { from: step } },
    { action: 'job.cancel', subject: job.id, details: { turn: 1 } },
    { action: 'job.message', subject: job.id, details: { turn: 2 } },
    { action: 'job.archive', subject: job.id, details: {} },
    { action: 'job.unarchive', subject: job.id, details: {} },
  ]);
});

it('records who marked a pull request as ready, merged it and closed it', async () => {
  const { act, entries, ids } = await scene();
  const id = ids['pull-requests']!;
  const path = `/v1/pull-requests/${id}`;
  await database.pool.query('update pull_requests set draft = true where id = $1', [id]);
  expect((await act(`${path}/merge`)).status).toBe(409);
  await act(`${path}/ready`);
  await act(`${path}/ready`);
  await act(`${path}/merge`);
  expect((await act(`${path}/close`)).status).toBe(409);
  await database.pool.query('update pull_requests set merge_requested_at = null where id = $1', [id]);
  await act(`${path}/close`);
  await act(`${path}/close`);
  const details = {};
  expect(await entries()).toEqual([
    { action: 'pull-request.ready', subject: id, details },
    { action: 'pull-request.merge', subject: id, details },
    { action: 'pull-request.close', subject: id, details },
  ]);
});

it('changes nothing when the entry cannot be written', async () => {
  const { ids, keys } = await scene();
  // a response that the description does not contain
  const statusOf = async (path: string, json: unknown) => {
    const headers = { authorization: `Bearer ${keys.admin}`, 'content-type': 'application/json' };
    return (await fetch(api.url + path, { method: 'POST', headers, body: JSON.stringify(json) })).status;
  };
  const job = `/v2/agent/${ids['agent']}/job`;
  const rows = async () =>
    (
      await database.pool.query(
        `select jobs.status, turn, waiting_messages, state, pull_requests.draft, merge_requested_at,
                (select count(*)::integer from jobs where project_id = $1) as jobs
         from jobs join pull_requests on pr_id = pull_requests.id where jobs.id = $2`,
        [ids['agent'], ids['job']],
      )
    ).rows;
  const before = await rows();
  await database.pool.query('alter table audit_entries rename to audit_entries_away');
  try {
    for (const [path, json] of [
      [job, { prompt: 'Go.' }],
      [`${job}/${ids['job']}/message`, { prompt: 'On.' }],
      [`${job}/${ids['job']}/cancel`],
      [`/v1/pull-requests/${ids['pull-requests']}/merge`],
      [`/v1/pull-requests/${ids['pull-requests']}/close`],
    ] as [string, unknown?][])
      expect([path, await statusOf(path, json ?? {})]).toEqual([path, 500]);
    expect(await rows()).toEqual(before);
  } finally {
    await database.pool.query('alter table audit_entries_away rename to audit_entries');
  }
});
