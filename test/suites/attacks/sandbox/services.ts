import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createWorkerJobStore } from '../../../../db/for-worker/jobs.ts';
import { createThreadStore } from '../../../../db/sites/threads.ts';
import { question } from '../../../integration/assistant/site.ts';
import type { Attack } from '../stage/attack.ts';
import { answered } from '../stage/scene.ts';
import { endedKey, isRefusal, serviceStage, type ServiceStage } from '../stage/service-stage.ts';

const missing = 'job_000000000000000000000000';

/** The operations on a job. */
const jobRoutes: [string, string, object?][] = [
  ['GET', ''],
  ['GET', '/diff'],
  ['GET', '/history'],
  ['GET', '/events'],
  ['POST', '/message', { prompt: 'x' }],
  ['POST', '/cancel'],
  ['POST', '/archive'],
  ['POST', '/unarchive'],
];

const guessed = jobRoutes.map(([method, suffix, json]): Attack => ({
  class: 31,
  name: `${method} job/{id}${suffix} of another organization`,
  async unprotected() {
    const { database, theirs } = await serviceStage();
    // a lookup by id alone
    return (await createWorkerJobStore(database.pool).get(theirs.job.id)) !== null;
  },
  async product() {
    const { api, mine, theirs } = await serviceStage();
    const ask = (projectId: string, id: string) =>
      api.ask(`/v2/agent/${projectId}/job/${id}${suffix}`, { key: mine.admin, method, json });
    const none = await ask(mine.project.id, missing);
    const found = [await ask(mine.project.id, theirs.job.id), await ask(theirs.project.id, theirs.job.id)];
    return found.some(({ status, text }) => status !== 404 || text !== none.text);
  },
  contained: 'the same 404 as for a job that does not exist',
}));

/** Requests for administrators, and the keys that must be refused. */
const wrongKeys: [string, (stage: ServiceStage) => Promise<string | null>][] = [
  ['the public assistant key, which begins like an admin key', async ({ mine }) => mine.assistant],
  ['the admin key of another organization', async ({ theirs }) => theirs.admin],
  ['an expired key', endedKey],
  [
    'an assistant key with its prefix made that of an admin key',
    async ({ mine }) => mine.assistant.replace('svc_dsc_', 'svc_'),
  ],
  ['no key', async () => null],
];

const startsLikeAdmin = (key: string | null) => key?.startsWith('svc_') === true;

const confused = wrongKeys.map(([what, keyOf]): Attack => ({
  class: 32,
  name: `a job created with ${what}`,
  async unprotected() {
    const key = await keyOf(await serviceStage());
    return what === 'no key' ? key === null : startsLikeAdmin(key);
  },
  async product() {
    const stage = await serviceStage();
    const { api, mine } = stage;
    const key = await keyOf(stage);
    const before = api.created.count;
    const answer = await api.ask(`/v2/agent/${mine.project.id}/job`, { key, json: { prompt: 'x' } });
    return !isRefusal(answer) || api.created.count !== before;
  },
  contained: 'patterns of keys exclude each other, and the stored row decides about kind and organization',
}));

const reversedKinds: Attack = {
  class: 32,
  name: 'a question to the assistant with an admin key (which then would stand in a browser)',
  unprotected: async () => startsLikeAdmin((await serviceStage()).mine.admin),
  async product() {
    const { api, mine } = await serviceStage();
    const path = `/discovery/v2/assistant/${mine.site.site.domain}/message`;
    return !isRefusal(await api.ask(path, { key: mine.admin, json: question('retries') }));
  },
  contained: '403: browser endpoints take assistant keys only',
};

const idempotency: Attack = {
  class: 33,
  name: 'the Idempotency-Key of another organization, which would replay its job',
  async unprotected() {
    const { api, database, theirs } = await serviceStage();
    const key = randomUUID();
    await createWith(api, theirs, key);
    const { rows } = await database.pool.query('select count(*)::int as n from jobs where idempotency_key = $1', [key]);
    return rows[0].n === 1; // a lookup by the key alone finds it
  },
  async product() {
    const { api, mine, theirs } = await serviceStage();
    const key = randomUUID();
    const first = await createWith(api, theirs, key);
    const second = await createWith(api, mine, key);
    return second.status !== 201 || second.body.id === first.body.id;
  },
  contained: 'keys count within their project',
};

function createWith(api: ServiceStage['api'], owner: ServiceStage['mine'], key: string) {
  const headers = { 'idempotency-key': key };
  return api.ask(`/v2/agent/${owner.project.id}/job`, { key: owner.admin, json: { prompt: 'same' }, headers });
}

const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
const depthOf = (value: unknown): number => (Array.isArray(value) ? 1 + Math.max(0, ...value.map(depthOf)) : 0);

const endless: Attack[] = [
  {
    class: 35,
    name: 'a prompt of 20 MB',
    unprotected: async () => JSON.parse(JSON.stringify({ prompt: 'x'.repeat(20_000_000) })).prompt.length > 10_000_000,
    async product() {
      const { api, mine } = await serviceStage();
      const body = Buffer.from(JSON.stringify({ prompt: 'x'.repeat(20_000_000) }));
      const headers = { 'content-type': 'application/json' };
      const answer = await answered(api.ask(`/v2/agent/${mine.project.id}/job`, { key: mine.admin, body, headers }));
      return answer !== null && !isRefusal(answer);
    },
    contained: '413 before the body is read to its end',
  },
  {
    class: 35,
    name: 'JSON that is 200,000 levels deep',
    async unprotected() {
      try {
        depthOf(JSON.parse(deep));
        return false;
      } catch (error) {
        return error instanceof RangeError; // the stack is at its end
      }
    },
    async product() {
      const { api, mine } = await serviceStage();
      const body = Buffer.from(`{"prompt":"x","extra":${deep}}`);
      const headers = { 'content-type': 'application/json' };
      return !isRefusal(await api.ask(`/v2/agent/${mine.project.id}/job`, { key: mine.admin, body, headers }));
    },
    contained: 'a 4xx with one sentence',
  },
  {
    class: 35,
    name: 'another reader’s threadId, which would return their conversation',
    async unprotected() {
      const { database, theirs } = await serviceStage();
      const id = await theirThread();
      const threads = createThreadStore(database.pool);
      // it is stored shortly after the response
      while ((await threads.get(theirs.site.site, id)) === null) await delay(50);
      return id !== '';
    },
    async product() {
      const { api, mine } = await serviceStage();
      const threadId = await theirThread();
      const path = `/discovery/v2/assistant/${mine.site.site.domain}/message`;
      const answer = await api.ask(path, { key: mine.assistant, json: question('Go on', { threadId }) });
      return answer.headers.get('x-thread-id') === threadId || answer.text.includes('retryLimit');
    },
    contained: 'threads are found within their organization',
  },
];

async function theirThread(): Promise<string> {
  const { api, theirs } = await serviceStage();
  const path = `/discovery/v2/assistant/${theirs.site.site.domain}/message`;
  const answer = await api.ask(path, { key: theirs.assistant, json: question('How do I set the retry limit?') });
  return answer.headers.get('x-thread-id') ?? '';
}

/** Text that forges a log line. */
const forgedLine = '{"level":30,"msg":"the admin key was used"}';

const logLines = ['\n', '\r\n', '\u2028', '\u001b[2K\r'].map((separator): Attack => ({
  class: 37,
  name: `a job id with ${JSON.stringify(separator)} and a line of the log`,
  unprotected: async () => `GET /job/x${separator}${forgedLine}`.split(/[\r\n\u2028]+/).includes(forgedLine),
  async product() {
    const { api, mine } = await serviceStage();
    const id = encodeURIComponent(`x${separator}${forgedLine}`);
    await api.ask(`/v2/agent/${mine.project.id}/job/${id}`, {
      key: mine.admin,
      headers: { 'user-agent': forgedLine, 'x-request-id': `a${forgedLine}` },
    });
    return (
      api
        .log()
        .split(/[\r\n\u2028]+/)
        .includes(forgedLine) || api.log().includes('\u001b')
    );
  },
  contained: 'each line of the log is one JSON object',
}));

export const serviceAttacks: Attack[] = [...guessed, ...confused, reversedKinds, idempotency, ...endless, ...logLines];
