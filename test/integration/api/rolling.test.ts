import { expect, it } from 'vitest';
import { startApi, type ApiProcess } from '../../support/stack/api-process.ts';
import { buildJob, buildKey, buildProject } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { startRoundRobin } from '../../support/stack/round-robin.ts';
import { openEvents, type WatchRequest } from '../../support/sdk-clients/watch-events.ts';

it(
  'two API processes behind a proxy restart one after the other without a failed request',
  { tags: 'slow' },
  async () => {
    await using database = await createTestDatabase();
    await using cleanup = new AsyncDisposableStack();
    const project = await buildProject(database.pool);
    const job = await buildJob(database.pool, project);
    const { key } = await buildKey(database.pool, project);
    const env = {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      DOCKET_JOBS_PER_HOUR: '1000000',
      DOCKET_ORGANIZATION_JOBS_PER_HOUR: '1000000',
      DOCKET_MAX_ACTIVE_JOBS: '1000000',
      DOCKET_DRAIN_SECONDS: '8',
      LOG_LEVEL: 'info',
    };
    const start = async (port: string) => {
      const api = cleanup.use(startApi({ ...env, PORT: port }));
      return { api, port: Number((await api.logged('api ready'))['port']) };
    };
    const running: { api: ApiProcess; port: number }[] = await Promise.all([start('0'), start('0')]);
    const ports = running.map(({ port }) => port);
    await using proxy = await startRoundRobin(ports);
    const jobs = `${proxy.baseUrl}/v2/agent/${project.id}/job`;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };

    const answers = new Map<string, number>();
    const over = new AbortController();
    const note = (answer: string) => void answers.set(answer, (answers.get(answer) ?? 0) + 1);
    const ask = async (what: string, url: string, init: RequestInit) => {
      while (!over.signal.aborted) {
        const { status, body } = await fetch(url, { ...init, headers }).then(
          async (response) => ({ status: response.status, body: await response.text() }),
          (error: Error) => ({ status: 0, body: String(error.cause ?? error) }),
        );
        note(status < 300 && status > 0 ? `${what} ${status}` : `${what} ${status} ${body}`);
      }
    };
    // a watcher whose stream ends reconnects and must be accepted
    const watch = async () => {
      while (!over.signal.aborted) {
        const watched = await readEvents({ url: `${jobs}/${job.id}/events`, key, signal: over.signal });
        note(`events ${watched}`);
      }
    };
    const prompt = JSON.stringify({ prompt: 'Go' });
    const load = [
      ...Array.from({ length: 3 }, () => ask('get', `${jobs}/${job.id}`, {})),
      ...Array.from({ length: 2 }, () => ask('create', jobs, { method: 'POST', body: prompt })),
      watch(),
      watch(),
    ];

    for (const { api, port } of running) {
      const down = proxy.sees(port, 'down');
      api.child.kill('SIGTERM');
      await down;
      expect(await api.ended).toBe(0);
      await start(String(port));
      await proxy.sees(port, 'up');
    }
    over.abort();
    await Promise.all(load);
    expect([...answers.keys()].sort()).toEqual(['create 201', 'events fine', 'get 200']);
    expect(answers.get('events fine')).toBeGreaterThan(2);
  },
);

/** Reads a stream to its end, and reports whether it started and ended correctly. */
async function readEvents(request: WatchRequest): Promise<string> {
  let text = '';
  try {
    const response = await openEvents(request);
    if (response.status !== 200) return `${response.status} ${await response.text()}`;
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) text += part;
  } catch (error) {
    if (request.signal?.aborted !== true) return `broke: ${String(error)}`;
  }
  return text === '' || text.startsWith('retry: ') ? 'fine' : text;
}
