import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildKey, testPepper } from '../../support/database/build.ts';
import { createFleet, type Fleet } from '../../support/stack/fleet.ts';
import { createFakeGithub } from '../../support/forges/fake-github.ts';
import { startWorkerProcess, type WorkerProcess } from '../../support/stack/worker-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const checkout = resolve(import.meta.dirname, '../../..');
const forged = '{"level":30,"process":"worker","msg":"forged"}';
/** Ends the line in every way, controls the terminal, and starts another entry. */
const hostile = `x\n${forged}\r${forged}\u2028${forged}\u2029\u0085\u001b[2J\u009b2J\u001b]0;t\u0007","msg":"forged"}`;
/** The bytes that a header may contain. */
const hostileHeader = 'x\u0085\u009b2J","msg":"forged"}\t{"msg":"forged"}';

let fleet: Fleet;
let directory: string;
/** Makes a process throw, or reject, on a signal. */
let preload: string;
beforeAll(async () => {
  fleet = await createFleet();
  directory = temporaryDirectory();
  preload = join(directory, 'preload.mjs');
  const said = `${JSON.stringify(hostile)} + process.env.SECRET_TO_SAY`;
  const actions = [
    `process.on('SIGUSR2', () => { throw new Error(${said}); });`,
    `process.on('SIGHUP', () => { Promise.reject(new Error(${said})); });`,
    `if (process.env.THROWS_AT_ONCE) setImmediate(() => { throw new Error(${said}); });`,
  ];
  await writeFile(preload, actions.join('\n'));
});
afterAll(async () => {
  await fleet?.[Symbol.asyncDispose]();
});

/** Checks that each line is one entry, that none is forged, and that nothing in them controls a terminal. */
function expectPlainEntries(output: string): void {
  expect(output.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
  const entries = output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(entries.filter(({ msg }) => msg === 'forged' || msg === undefined)).toEqual([]);
}

function startApiProcess(env: NodeJS.ProcessEnv = {}): Promise<WorkerProcess> {
  const own = {
    DATABASE_URL: fleet.database.url,
    DOCKET_KEY_PEPPER: testPepper,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    LOG_LEVEL: 'trace',
    PORT: '0',
  };
  return startWorkerProcess({ ...own, ...env }, join(checkout, 'api/main.ts'));
}

const portOf = (output: string) => Number(/"port":(\d+),"msg":"api ready"/.exec(output)![1]);

/** Sends a request byte for byte. */
async function sendRaw(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.end(Buffer.from(request, 'latin1'));
  return text(socket);
}

describe('the log', () => {
  it('of the API has one line per entry, whatever the requests contain', async () => {
    await using api = await startApiProcess();
    await api.said('"msg":"api ready"');
    const port = portOf(api.output());
    const { rows } = await fleet.database.pool.query('select id, organization_id as "organizationId" from projects');
    const [{ id: projectId, organizationId }] = rows;
    const { key } = await buildKey(fleet.database.pool, { organizationId });
    const path = encodeURIComponent(hostile);
    const places = [
      `/v2/agent/${projectId}/job/${path}`,
      `/v1/sites/${path}?x=${path}`,
      `/${path}`,
      `/%0a\u009b\u0085`,
    ];
    const headers = [
      `User-Agent: ${hostileHeader}`,
      `X-Request-Id: ${hostileHeader}`,
      `Idempotency-Key: ${hostileHeader}`,
      `X-Forwarded-For: ${hostileHeader}`,
      `traceparent: ${hostileHeader}`,
      `Content-Type: application/json`,
    ];
    const bodies = [
      JSON.stringify({ prompt: hostile, model: hostile, source: { ref: hostile } }),
      `{${hostile}`,
      hostile,
    ];
    for (const authorization of [`Bearer ${key}`, `Bearer ${hostileHeader}`]) {
      for (const place of places) {
        for (const body of bodies) {
          const bytes = Buffer.from(body);
          const head = [...headers, `Authorization: ${authorization}`, `Content-Length: ${bytes.length}`, 'Host: x'];
          const start = `POST ${place} HTTP/1.1\r\n${head.join('\r\n')}\r\nConnection: close\r\n\r\n`;
          expect(await sendRaw(port, start + bytes.toString('latin1'))).toMatch(/^HTTP\/1\.1 4\d\d /);
        }
      }
    }
    await sendRaw(port, `GET / HTTP/1.1\r\nHost: x\r\nX-A: b\r\n folded ${forged}\r\n\r\n`);
    await sendRaw(port, `\u001b[2J${forged}\n${forged}\r\n\r\n`);
    api.child.kill('SIGTERM');
    expect(await api.closed).toBe(0);
    expectPlainEntries(api.output());
  });

  it(
    'of the worker has one line per entry, whatever the repository, model and forge say',
    { tags: 'slow' },
    async () => {
      await using github = await createFakeGithub();
      const name = `${hostile.replaceAll('/', '')}.md`;
      const files = { 'AGENTS.md': hostile, [name.slice(0, 80)]: hostile, 'a.txt': 'a\n' };
      const repository = await github.addRepository('acme/lamp', files);
      const hook = join(repository.path, 'hooks', 'pre-receive');
      await mkdir(dirname(hook), { recursive: true });
      await writeFile(hook, `#!/bin/sh\ncat >&2 <<'END'\n${hostile}\nEND\nexit 1\n`);
      await chmod(hook, 0o755);
      const env = { LOG_LEVEL: 'trace', GITHUB_TOKEN: github.token, GITHUB_API_URL: github.apiUrl };
      const worker = await fleet.startWorker(env, join(checkout, 'test/suites/chaos/processes/http-git-worker.ts'));
      await fleet.database.pool.query(`update projects set repository = $1, forge = 'github'`, [repository.url]);
      const writing = [
        {
          toolCalls: [
            { name: 'read', input: { path: name.slice(0, 80) } },
            { name: hostile, input: { x: hostile } },
          ],
        },
        { toolCalls: [{ name: 'write', input: { path: 'new.txt', content: hostile } }] },
        { toolCalls: [{ name: 'finish', input: { title: hostile, summary: hostile } }] },
      ];
      fleet.model.script({ status: 500, errorMessage: hostile }, ...writing);
      const refused = await fleet.startJob(hostile, { repository: repository.url });
      expect(await fleet.ended(refused)).toMatchObject({ status: 'failed', failureCategory: 'push_rejected' });
      await rm(hook);
      github.fail({ on: 'create', status: 422, body: { message: hostile, errors: [{ message: hostile }] } });
      fleet.model.script(...writing);
      await fleet.ended(await fleet.startJob(hostile, { repository: repository.url }));
      fleet.model.script({ status: 400, errorMessage: hostile });
      expect(await fleet.ended(await fleet.startJob(hostile, { repository: repository.url }))).toMatchObject({
        status: 'failed',
      });
      worker.child.kill('SIGTERM');
      await worker.closed;
      expect(worker.output()).toContain('forged');
      expectPlainEntries(worker.output());
    },
  );
});

describe('an uncaught error', () => {
  const variables = (secret: string) => ({ NODE_OPTIONS: `--import ${preload}`, SECRET_TO_SAY: secret });

  it.each(['SIGUSR2', 'SIGHUP'] as const)(
    'ends the API with 1 and one plain entry without a secret (%s)',
    async (signal) => {
      await using api = await startApiProcess(variables(testPepper));
      await api.said('"msg":"api ready"');
      api.child.kill(signal);
      expect(await api.closed).toBe(1);
      expectPlainEntries(api.output());
      expect(api.output()).toContain('The API exited on an uncaught error.');
      expect(api.output()).not.toContain(testPepper);
    },
  );

  async function expectWorkerEnd(signal: NodeJS.Signals): Promise<void> {
    const secret = 'sk-key-of-the-model-1234567890';
    const worker = await fleet.startWorker({ ...variables(secret), OPENAI_COMPATIBLE_API_KEY: secret });
    worker.child.kill(signal);
    expect(await worker.closed).toBe(1);
    expectPlainEntries(worker.output());
    expect(worker.output()).toContain('The worker exited on an uncaught error.');
    expect(worker.output()).not.toContain(secret);
  }

  it.each(['SIGUSR2'] as const)('ends a worker in the same way (%s)', expectWorkerEnd);
  it.each(['SIGHUP'] as const)('ends a worker in the same way (%s)', { tags: 'slow' }, expectWorkerEnd);

  it('ends the command line in one plain line', async () => {
    const secret = 'the-pass-word-of-it';
    const env = { ...variables(secret), THROWS_AT_ONCE: '1', DATABASE_URL: `postgres://u:${secret}@127.0.0.1:1/x` };
    await using docket = await startWorkerProcess(
      { ...env, DOCKET_KEY_PEPPER: testPepper },
      join(checkout, 'cli/docket.ts'),
    );
    expect(await docket.closed).toBe(1);
    expect(docket.output().replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
    expect(docket.output()).not.toContain(secret);
    const last = docket.output().trimEnd().split('\n').at(-1);
    expect(last).toMatch(/^x\\u000a.*forged.*\[redacted\]$/);
  });
});
