import { beforeAll, expect, it } from 'vitest';
import { createJobEventWakeups } from '../../../../db/jobs/job-event-wakeups.ts';
import { wakeWatchers } from '../../../../db/jobs/wake-watchers.ts';
import type { JobRow } from '../../../../db/jobs/jobs.ts';
import { buildJob, buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { serveApi } from '../serve.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));
const project = ofFile(() => buildProject(database.pool));
let key: string;

beforeAll(async () => {
  key = (await buildKey(database.pool, project)).key;
});

const ended = { status: 'completed', phase: null, endedAt: new Date() } as const;
const active = {};

/** Requests that change a job, and the state of the job that they need. */
const changes: [
  name: string,
  columns: Partial<JobRow>,
  method: string,
  path: (job: string) => string,
  json?: object,
][] = [
  ['a follow-up message', ended, 'POST', (job) => `${job}/message`, { prompt: 'And the title too.' }],
  ['cancelling it', active, 'POST', (job) => `${job}/cancel`],
  ['archiving it', ended, 'POST', (job) => `${job}/archive`],
  ['deleting it', ended, 'DELETE', (job) => job],
  ['deleting its project', ended, 'DELETE', () => `/v1/projects/${project.id}`],
];

/** Returns a job whose own notices have arrived, so that none of them hides a change that is not announced. */
async function settledJob(columns: Partial<JobRow>): Promise<JobRow> {
  const built = await buildJob(database.pool, project, columns);
  const arrived = Promise.withResolvers<void>();
  await using wakeups = createJobEventWakeups({ url: database.url, pool: database.pool });
  // they arrive in the order in which they were sent
  wakeups.onAnyChange((id) =>
    id === null ? wakeWatchers(database.pool, 'job_last') : id === 'job_last' && arrived.resolve(),
  );
  await arrived.promise;
  return built;
}

it.each(changes)('a poll shows %s at once', async (_name, columns, method, path, json) => {
  const { id } = await settledJob(columns);
  const job = `/v2/agent/${project.id}/job/${id}`;
  const poll = () => api.ask(job, { key });
  const before = await poll();
  expect((await poll()).text).toBe(before.text);
  const changed = await api.ask(path(job), { method, key, json });
  expect(changed.status).toBeLessThan(300);
  const after = await poll();
  expect(after.text).not.toBe(before.text);
  if (method === 'DELETE') expect(after.status).toBe(404);
});
