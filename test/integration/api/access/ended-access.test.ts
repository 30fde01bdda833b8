import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOpenApi } from '../../../../api/openapi/openapi.ts';
import { routes } from '../../../../api/openapi/routes.ts';
import { buildJob, buildKey, buildProject } from '../../../support/database/build.ts';
import { openStream, type OpenOptions, type OpenStream } from '../../../support/sdk-clients/open-stream.ts';
import { serveModelApi, type ModelApi } from '../../assistant/model-api.ts';
import { question } from '../../assistant/site.ts';

/** The holders of open streams: a key of each kind, or a session, which counts as both. */
interface Holder {
  admin: Partial<OpenOptions>;
  assistant: Partial<OpenOptions>;
  ids: string[];
  sessionId: string | null;
}

let api: ModelApi;
let projectId: string;
let jobId: string;
/** Streams of another key, which stay open. */
let others: { name: string; stream: OpenStream }[];
let chats = 0;
const withinMs = 5_000;

const ours = { 'sec-fetch-site': 'same-origin' };

async function byKey(): Promise<Holder> {
  const { pool } = api.database;
  const { organizationId } = api.docs;
  const admin = await buildKey(pool, { organizationId });
  const assistant = await buildKey(pool, { organizationId, kind: 'assistant' });
  return {
    admin: { key: admin.key },
    assistant: { key: assistant.key },
    ids: [admin.row.id, assistant.row.id],
    sessionId: null,
  };
}

async function bySession(): Promise<Holder> {
  const { key, row } = await buildKey(api.database.pool, { organizationId: api.docs.organizationId });
  const answer = await api.apis[0]!.ask('/v1/session', { json: { key } });
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  const headers = { cookie, ...ours };
  const sessionId = /ses_\w+/.exec(cookie)?.[0] ?? '';
  return { admin: { headers }, assistant: { headers }, ids: [row.id], sessionId };
}

type Opener = (url: string, holder: Holder) => Promise<OpenStream>;

/** How to open each stream so that it lasts, by operation id. */
const openers: Record<string, Opener> = {
  followJobs: (url, { admin }) => openStream(`${url}/v1/jobs/events`, { ...admin }),
  getAgentJobEvents: (url, { admin }) =>
    openStream(`${url}/v2/agent/${projectId}/job/${jobId}/events`, {
      ...admin,
      headers: { ...admin.headers, accept: 'text/event-stream' },
    }),
  getAgentJobBundle: (url, { admin }) =>
    openStream(`${url}/v2/agent/${projectId}/job/${jobId}/bundle`, { ...admin, isIdle: true }),
  callMcp: (url, { assistant }) =>
    openStream(`${url}/mcp/${api.docs.site.domain}`, {
      ...assistant,
      headers: { ...assistant.headers, accept: 'text/event-stream' },
      json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask', arguments: { question: 'Why?' } } },
    }),
  createAssistantMessageV1: (url, holder) => ask(url, 'v1', holder),
  createAssistantMessageV2: (url, holder) => ask(url, 'v2', holder),
  resumeAssistantMessageV1: (url, holder) => resume(url, 'v1', holder),
  resumeAssistantMessageV2: (url, holder) => resume(url, 'v2', holder),
};

function messagePath(protocol: string): string {
  return `/discovery/${protocol}/assistant/${api.docs.site.domain}/message`;
}

async function ask(url: string, protocol: string, { assistant }: Holder, chat = {}): Promise<OpenStream> {
  const json = question('How do I change the retry limit?', chat);
  const stream = await openStream(url + messagePath(protocol), { ...assistant, json });
  await stream.until('one ');
  return stream;
}

async function resume(url: string, protocol: string, holder: Holder): Promise<OpenStream> {
  const id = `chat-${(chats += 1)}`;
  const { headers } = await ask(url, protocol, holder, { id, resumable: true });
  const stream = await openStream(`${url}${messagePath(protocol)}/${id}/stream`, {
    ...holder.assistant,
    headers: { ...holder.assistant.headers, 'x-resume-token': String(headers['x-resume-token']) },
  });
  await stream.until('one ');
  return stream;
}

/** Opens each kind of stream at each process. */
async function openAll(holder: Holder): Promise<{ name: string; stream: OpenStream }[]> {
  const streams = [];
  for (const [at, { url }] of api.apis.entries())
    for (const [name, open] of Object.entries(openers))
      streams.push({ name: `${name} ${at}`, stream: await open(url, holder) });
  expect(streams.map(({ name, stream }) => [name, stream.status])).toEqual(streams.map(({ name }) => [name, 200]));
  return streams;
}

/** Waits in steps, so that a stall of this process counts as one step only. */
async function timeOfProcess(ms: number): Promise<'open'> {
  for (let passed = 0; passed < ms; passed += 50) await wait(50, null, { ref: false });
  return 'open';
}

/**
 * A slow reader continues at full speed once the other streams have ended: it may receive what the kernel has buffered, but
 * not the rest.
 */
async function endsOf(streams: { name: string; stream: OpenStream }[], withinMs: number): Promise<string[]> {
  const late = timeOfProcess(withinMs);
  const isSlow = ({ name }: { name: string }) => name.startsWith('getAgentJobBundle');
  const read = Promise.all(streams.filter((one) => !isSlow(one)).map(({ stream }) => stream.ended));
  const ends = streams.map(async ({ name, stream }) => {
    if (isSlow({ name })) {
      await Promise.race([read, late]);
      stream.read();
    }
    const ended = await Promise.race([stream.ended, late]);
    // a complete file was not cut
    const isWhole = ended === 'complete' && isSlow({ name });
    return `${name} ${isWhole ? 'whole' : ended === 'open' ? 'open' : 'ended'}`;
  });
  return Promise.all(ends);
}

const query = (text: string, values: unknown[]) => api.database.pool.query(text, values);

const endings: Record<string, { holder: () => Promise<Holder>; end: (holder: Holder) => Promise<unknown> }> = {
  'a key that is revoked at one of the processes': {
    holder: byKey,
    end: async ({ ids }) => {
      for (const id of ids) {
        const answer = await api.apis[0]!.ask(`/v1/keys/${id}`, { method: 'DELETE', key: api.docs.adminKey });
        expect(answer.status).toBe(204);
      }
    },
  },
  'a key that expires': {
    holder: byKey,
    end: ({ ids }) => query('update api_keys set expires_at = now() where id = any($1)', [ids]),
  },
  'a key that is deleted with its organization': {
    holder: byKey,
    end: ({ ids }) => query('delete from api_keys where id = any($1)', [ids]),
  },
  'a session that signs out': {
    holder: bySession,
    end: ({ admin }) => api.apis[0]!.ask('/v1/session', { method: 'DELETE', headers: admin.headers }),
  },
  'a session that has lasted for its lifetime': {
    holder: bySession,
    end: ({ sessionId }) => query('update sessions set expires_at = now() where id = $1', [sessionId]),
  },
  'a session whose key is revoked': {
    holder: bySession,
    end: ({ ids }) => query('update api_keys set revoked_at = now() where id = any($1)', [ids]),
  },
  'a session when all sessions of the organization are signed out': {
    holder: bySession,
    end: () => api.apis[1]!.ask('/v1/sessions', { method: 'DELETE', key: api.docs.adminKey }),
  },
};

async function checkEnding(name: string): Promise<void> {
  const { holder: makeHolder, end } = endings[name]!;
  const holder = await makeHolder();
  const streams = await openAll(holder);
  await end(holder);
  const ends = await endsOf(streams, withinMs);
  expect(ends).toEqual(streams.map((stream) => `${stream.name} ended`));
  expect(await endsOf(others, 50)).toEqual(others.map((stream) => `${stream.name} open`));
}

describe('streams that were opened with', () => {
  beforeAll(async () => {
    api = await serveModelApi({ instances: 2, times: { modelStalledMs: 300_000 } });
    const { pool } = api.database;
    const project = await buildProject(pool, { organizationId: api.docs.organizationId });
    const job = await buildJob(pool, project);
    projectId = project.id;
    jobId = job.id;
    // more than the buffers between the service and a reader that reads nothing
    await pool.query(
      `insert into job_snapshots (job_id, tree, commit, base_commit, pack, patch, changed_files) values ($1, 't', 'c', 'b', $2, '', 1)`,
      [jobId, randomBytes(16 * 1024 * 1024)],
    );
    api.model.respondWith({ text: ['one ', 'two ', 'three'], stall: 2 });
    others = (await openAll(await byKey())).filter(({ name }) => !name.startsWith('getAgentJobBundle'));
  });

  afterAll(async () => {
    for (const { stream } of others ?? []) stream.leave();
    await api?.[Symbol.asyncDispose]();
  });

  const title = '%s end within 5 seconds at every process, and no others';
  const names = Object.keys(endings);
  it.concurrent.each(names.slice(0, -1))(title, { tags: 'slow' }, checkEnding);
  // alone: it also ends the sessions of the others
  it.each(names.slice(-1))(title, { tags: 'slow' }, checkEnding);
});

describe('the streams of these tests', () => {
  it('are all that the service has', () => {
    const { paths } = JSON.parse(JSON.stringify(createOpenApi({ baseUrl: 'https://docket.example', routes })));
    const operations = Object.values<any>(paths).flatMap(({ get, post }) => [get, post].filter(Boolean));
    const streamed = operations.filter(({ operationId, responses }) => {
      const types = Object.keys(responses[200]?.content ?? {});
      return types.some((type) => type !== 'application/json') && !bounded.includes(operationId);
    });
    expect(streamed.map(({ operationId }) => operationId).toSorted()).toEqual(Object.keys(openers).toSorted());
  });
});

/** Other responses, which are written in one piece. */
const bounded = [
  'exportSiteAnalytics',
  'getAgentJobDiff',
  'getAgentJobImage',
  'getAgentJobStepDiff',
  'getPullRequestDiff',
  'getMetrics',
  'getLinkList',
  'getFullText',
  'getMarkdownPage',
];
