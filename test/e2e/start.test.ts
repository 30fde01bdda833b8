import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { identityOf } from '../../local/processes/process-identity.ts';
import { startPostgres } from '../../local/postgres/postgres.ts';
import type { LocalJson } from '../../local/local-json.ts';
import { createTestHome, removeTestHome, startTestStack } from '../support/stack/stack.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

vi.setConfig({ testTimeout: 600_000 }); // several starts each, on a slow machine

const checkout = resolve(import.meta.dirname, '../..');

interface Run {
  code: number | null;
  output: string;
}

/** A start that is expected to exit. */
async function runStart(env: NodeJS.ProcessEnv): Promise<Run> {
  const child = spawn(process.execPath, [join(checkout, 'local/start.ts')], { env: { ...process.env, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (output += piece.toString()));
  const [code] = await once(child, 'close');
  return { code, output };
}

async function newHome(): Promise<{ home: string } & AsyncDisposable> {
  const home = await createTestHome();
  return { home, [Symbol.asyncDispose]: () => removeTestHome(home) };
}

async function livingOf({ pids }: LocalJson): Promise<string[]> {
  const states = await Promise.all(
    Object.entries(pids).map(async ([name, pid]) => (pid !== null && (await identityOf(pid)) !== null ? [name] : [])),
  );
  return states.flat();
}

async function listJobs({ baseUrl, projectId, adminKey }: LocalJson): Promise<number> {
  const headers = { authorization: `Bearer ${adminKey}` };
  const response = await fetch(`${baseUrl}/v2/agent/${projectId}/jobs`, { headers });
  await response.body?.cancel();
  return response.status;
}

/** 503 as long as the site has no index. */
async function readFirstPage({ baseUrl, domain, assistantKey }: LocalJson): Promise<number> {
  const response = await fetch(`${baseUrl}/discovery/v1/page/${domain}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${assistantKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ path: '/' }),
  });
  await response.body?.cancel();
  return response.status;
}

async function ask({ baseUrl, adminKey }: LocalJson, path: string, json?: unknown): Promise<any> {
  const response = await fetch(baseUrl + path, {
    method: json === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(json),
  });
  return response.json();
}

/** Starts a job or one of its turns, and returns the job when it has ended. */
async function finishedJob(stack: LocalJson, path: string, json: unknown): Promise<any> {
  const begun = await ask(stack, path, json);
  const job = await vi.waitFor(
    async () => {
      const found = await ask(stack, `/v2/agent/${stack.projectId}/job/${begun.id}`);
      if (found.status === 'active') throw new Error('The job runs.');
      return found;
    },
    { timeout: 180_000, interval: 200 },
  );
  return job;
}

describe('npm start', () => {
  it('serves with its own keys, refuses a second start, restarts what dies, stops cleanly, and finds its data after a move', async () => {
    await using place = await newHome();
    const { home } = place;
    await using stack = await startTestStack({ home });
    const first = stack.localJson;
    expect(await listJobs(first)).toBe(200);
    expect([200, 404]).toContain(await readFirstPage(first));
    expect((await livingOf(first)).sort()).toEqual(['api', 'postgres', 'temporal', 'worker']);
    expect((await stat(join(home, 'local.json'))).mode & 0o777).toBe(0o600);

    const second = await runStart({ DOCKET_HOME: home, PORT: '0' });
    expect(second).toEqual({ code: 1, output: expect.stringContaining(`Docket already runs on ${home}`) });
    expect(await listJobs(first)).toBe(200);

    for (const name of ['postgres', 'temporal', 'worker', 'api'] as const) {
      const after = await stack.killAndWait(name);
      expect(after.pids[name]).not.toBe(first.pids[name]);
    }
    expect(stack.output()).toMatch(/PostgreSQL ended \(signal SIGKILL\); restarting in/);
    expect(await listJobs(first)).toBe(200);

    const jobs = `/v2/agent/${first.projectId}/job`;
    const job = await finishedJob(first, jobs, { prompt: 'Create before.md with "before"' });
    expect(job).toMatchObject({
      status: 'completed',
      source: { repository: pathToFileURL(join(home, 'repositories/lamp.git')).href },
    });

    const last = await stack.read();
    expect(await stack.stop()).toBe(0);
    expect(await livingOf(last)).toEqual([]);
    const moved = join(dirname(home), 'elsewhere/home');
    await mkdir(dirname(moved), { mode: 0o711 });
    await rename(home, moved);

    await using again = await startTestStack({ home: moved });
    const kept = ({ projectId, domain, adminKey, assistantKey }: LocalJson) => ({
      projectId,
      domain,
      adminKey,
      assistantKey,
    });
    expect(kept(again.localJson)).toEqual(kept(first));
    expect(await listJobs(again.localJson)).toBe(200);
    // a message continues the job where it was, and a new job starts in the folder's new location
    const source = { repository: pathToFileURL(join(moved, 'repositories/lamp.git')).href };
    const further = { prompt: 'Create after.md with "after"' };
    expect(await finishedJob(again.localJson, `${jobs}/${job.id}/message`, further)).toMatchObject({
      status: 'completed',
      source,
    });
    expect(await finishedJob(again.localJson, jobs, { ...further, source })).toMatchObject({
      status: 'completed',
      source,
    });
    const site = await ask(again.localJson, `/v1/sites/${first.domain}`);
    expect(site.repository).toBe(source.repository);
    expect(await again.stop()).toBe(0);
    await rename(moved, home); // where it is removed
  });

  it('also stops on SIGTERM under npm, not only on Ctrl-C in a terminal', async () => {
    await using place = await newHome();
    await using stack = await startTestStack({ home: place.home, command: ['npm', 'start'] });
    const last = stack.localJson;
    process.kill(stack.supervisorPid, 'SIGTERM');
    await expect.poll(() => livingOf(last)).toEqual([]);
    await expect.poll(() => stack.output()).toContain('Stopped.');
  });

  it('ends or takes over what a killed supervisor left, and creates new keys when local.json is gone', async () => {
    await using place = await newHome();
    const { home } = place;
    await using stack = await startTestStack({ home });
    const before = stack.localJson;
    await stack.killSupervisor();
    await writeFile(join(home, 'local.json'), '{"baseUrl": 1}');
    const broken = await runStart({ DOCKET_HOME: home, PORT: '0' });
    expect(broken).toEqual({ code: 1, output: expect.stringMatching(/local\.json cannot be read \(wrong: baseUrl/) });
    expect(await readFile(join(home, 'local.json'), 'utf8')).toBe('{"baseUrl": 1}');

    await writeFile(join(home, 'local.json'), JSON.stringify({ ...before, adminKey: 'svc_lost' }));
    await using again = await startTestStack({ home });
    expect(await livingOf(before)).toEqual([]);
    expect(again.localJson.projectId).toBe(before.projectId);
    expect(again.localJson.adminKey).not.toBe('svc_lost');
    expect(await listJobs(again.localJson)).toBe(200);
    expect(await again.stop()).toBe(0);
  });

  it('creates one pair of keys, even if the first start fails on its configuration', async () => {
    await using place = await newHome();
    const { home } = place;
    const failed = await runStart({ DOCKET_HOME: home, PORT: '0', DOCKET_TRUSTED_PROXIES: 'some' });
    expect(failed).toEqual({ code: 1, output: expect.stringContaining('DOCKET_TRUSTED_PROXIES') });
    await using stack = await startTestStack({ home });
    const { keys } = await ask(stack.localJson, '/v1/keys');
    expect(keys.map(({ kind }: { kind: string }) => kind).sort()).toEqual(['admin', 'assistant']);
  });

  it.runIf(process.getuid?.() === 0)('runs PostgreSQL as root below a folder that only root may enter', async () => {
    const folder = temporaryDirectory(); // mode 700
    await using cleanup = new AsyncDisposableStack();
    const hooks = { log: () => {} };
    const server = await startPostgres({ directory: join(folder, 'postgres'), isDurable: false }, hooks);
    cleanup.defer(() => rm(dirname(server.dataDirectory), { recursive: true, force: true }));
    cleanup.use(server);
    expect(server.dataDirectory).toMatch(/^\/var\/lib\/docket\/[0-9a-f]{16}\/data$/);
    await server[Symbol.asyncDispose]();
    await using again = await startPostgres({ directory: join(folder, 'postgres'), isDurable: false }, hooks);
    expect(again.dataDirectory).toBe(server.dataDirectory);
  });

  it('refuses a port that is in use or that browsers refuse, an unusable home, and bad settings, in one sentence each', async () => {
    await using place = await newHome();
    const { home } = place;
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const inUse = await runStart({ DOCKET_HOME: home, PORT: String(port) });
    server.close();
    expect(inUse).toEqual({ code: 1, output: expect.stringContaining(`Port ${port} on 127.0.0.1 is in use`) });

    const blocked = await runStart({ DOCKET_HOME: home, PORT: '6000' });
    expect(blocked).toEqual({ code: 1, output: expect.stringContaining('Browsers refuse to open port 6000') });

    const file = join(dirname(home), 'a-file');
    await writeFile(file, 'kept');
    const noFolder = await runStart({ DOCKET_HOME: file, PORT: '0' });
    expect(noFolder).toEqual({ code: 1, output: expect.stringMatching(/The folder .* cannot be written \(EEXIST\)/) });
    expect(await readFile(file, 'utf8')).toBe('kept');

    const badPort = await runStart({ DOCKET_HOME: home, PORT: 'http' });
    expect(badPort).toEqual({ code: 1, output: expect.stringContaining('PORT must be a whole number') });
  });
});
