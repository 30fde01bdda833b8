import { describe, expect, it } from 'vitest';
import { startApi } from '../../support/stack/api-process.ts';
import { buildJob, buildKey, buildProject } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { openLine } from '../../support/servers/line.ts';

/** Logs the npm packages that the process has loaded, when it exits. */
const watch = `
  import { writeSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  import { isMainThread } from 'node:worker_threads';
  const packages = new Set();
  registerHooks({
    load(url, context, next) {
      const [name] = [...url.matchAll(/node_modules\\/((?:@[^/]+\\/)?[^/]+)/g)].map((match) => match[1]).slice(-1);
      if (name !== undefined) packages.add(name);
      return next(url, context);
    },
  });
  if (isMainThread)
    process.on('exit', () => writeSync(1, JSON.stringify({ msg: 'packages', packages: [...packages] }) + '\\n'));`;

/** Packages that are loaded at their first use. Together they would double the memory of an idle API. */
const later = [
  ...['client', 'common', 'proto', 'workflow', 'worker'].map((name) => `@temporalio/${name}`),
  ...['anthropic', 'cohere', 'google', 'openai', 'openai-compatible'].map((name) => `@ai-sdk/${name}`),
  ...['core', 'sdk-trace', 'exporter-trace-otlp-http', 'semantic-conventions'].map((name) => `@opentelemetry/${name}`),
  '@grpc/grpc-js',
  '@modelcontextprotocol/sdk',
  'ai',
  'hast-util-from-html',
  'jose',
  'mdast-util-from-markdown',
  'micromark',
  'protobufjs',
  'yaml',
];

/** Returns which of them an API has loaded after a request. */
async function loadedBy(request: (api: { base: string; headers: Record<string, string> }) => Promise<number>) {
  await using database = await createTestDatabase();
  await using temporal = await openLine({ hostname: '127.0.0.1', port: '1' }, { isCut: true });
  const project = await buildProject(database.pool);
  const job = await buildJob(database.pool, project);
  await database.pool.query('delete from job_outbox'); // an API has nothing to start
  const { key } = await buildKey(database.pool, project);
  await using api = startApi({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(watch)}`,
  });
  const { port } = await api.logged('api ready');
  const base = `http://127.0.0.1:${String(port)}`;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  expect((await fetch(`${base}/readyz`)).status).toBe(200);
  const jobs = `${base}/v2/agent/${project.id}/job`;
  expect((await fetch(`${jobs}/${job.id}`, { headers })).status).toBe(200);
  expect(await request({ base: jobs, headers })).toBeLessThan(300);
  // waits for what the request began in the background
  api.child.kill('SIGTERM');
  const { packages } = (await api.logged('packages')) as { packages?: string[] };
  expect(packages).toContain('koa');
  return later.filter((name) => packages?.includes(name));
}

describe('an API', { tags: 'slow' }, () => {
  it('that answers polls has loaded nothing that they do not need', async () => {
    expect(await loadedBy(async () => 200)).toEqual([]);
  });

  it('loads the SDK of Temporal to start a job', async () => {
    const body = JSON.stringify({ prompt: 'Go' });
    const create = async ({ base, headers }: { base: string; headers: Record<string, string> }) =>
      (await fetch(base, { method: 'POST', headers, body })).status;
    expect(await loadedBy(create)).toContain('@temporalio/client');
  });
});
