import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, it, vi } from 'vitest';
import { identityOf } from '../../../local/processes/process-identity.ts';
import { mountSmallDisk } from '../../support/sandbox/small-disk.ts';
import { startTestStack, type TestStack } from '../../support/stack/stack.ts';

vi.setConfig({ testTimeout: 600_000 }); // three starts, on a slow machine

async function ask({ localJson }: TestStack, path: string, json?: unknown): Promise<{ status: number; body: any }> {
  const { baseUrl, projectId, adminKey } = localJson;
  const response = await fetch(`${baseUrl}/v2/agent/${projectId}${path}`, {
    method: json === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(json),
    signal: AbortSignal.timeout(30_000),
  });
  return { status: response.status, body: await response.json() };
}

/** Waits until all accepted jobs have ended; a lost or failed job is an error. */
async function allCompleted(stack: TestStack, accepted: readonly string[]): Promise<void> {
  await vi.waitFor(
    async () => {
      const answers = await Promise.all(accepted.map((id) => ask(stack, `/job/${id}`)));
      expect(answers.map(({ body }) => body.status ?? body)).toEqual(accepted.map(() => 'completed'));
    },
    { timeout: 240_000, interval: 1_000 },
  );
}

it('keeps npm start and its jobs through a full disk, a crash of PostgreSQL on it, a stop and a start', async (context) => {
  await using disk = await mountSmallDisk(600);
  if (disk === null) return context.skip();
  const home = join(disk.directory, 'home');
  const env = {
    DOCKET_JOBS_PER_HOUR: '1000',
    DOCKET_ORGANIZATION_JOBS_PER_HOUR: '2000',
    DOCKET_MAX_ACTIVE_JOBS: '1000',
  };
  const accepted: string[] = [];
  const create = async (stack: TestStack, prompt: string) => {
    const answer = await ask(stack, '/job', { prompt });
    if (answer.status === 201) accepted.push(answer.body.id);
    return answer;
  };
  const last = await (async () => {
    await using stack = await startTestStack({ home, env });
    for (const name of ['one', 'two', 'three'])
      expect((await create(stack, `Run "sleep 3". Create ${name}.md with "${name}"`)).status).toBe(201);
    await disk.fill();
    await vi.waitFor(() => expect(stack.output()).toContain(`The disk of ${home} is full; free some space.`), 30_000);
    // large ones, until PostgreSQL has no space for another
    let refused = await create(stack, 'Create small.md with "small"');
    for (let left = 400; left > 0 && refused.status === 201; left -= 1) {
      await disk.fill();
      refused = await create(stack, `Create large.md with "${randomBytes(40_000).toString('hex')}"`);
    }
    expect(refused).toEqual({ status: 503, body: { error: expect.any(String) } });

    await stack.kill('postgres');
    await vi.waitFor(() => expect(stack.output()).toMatch(/PostgreSQL .*; retrying in/), 60_000);
    expect(stack.output()).toContain('No space left on device');
    await disk.empty();
    await vi.waitFor(() => expect(stack.output()).toContain('PostgreSQL runs again'), 60_000);
    await allCompleted(stack, accepted);
    expect(stack.output()).toContain(`The disk of ${home} has space again`);

    await create(stack, 'Run "sleep 5". Create late.md with "late"');
    await disk.fill();
    const { pids } = await stack.read();
    expect(await stack.stop()).toBe(0);
    return pids;
  })();
  for (const pid of Object.values(last)) if (pid !== null) expect(await identityOf(pid)).toBeNull();

  const start = spawn(process.execPath, [resolve('local/start.ts')], {
    env: { ...process.env, DOCKET_HOME: home, PORT: '0' },
  });
  let output = '';
  for (const stream of [start.stdout, start.stderr]) stream.on('data', (piece: Buffer) => (output += piece.toString()));
  const [code] = await once(start, 'close');
  expect({ code, output }).toEqual({ code: 1, output: expect.stringMatching(/disk .* is full; free some space/) });
  expect(output).not.toMatch(/^ +at /m);

  await disk.empty();
  await using again = await startTestStack({ home, env });
  await allCompleted(again, accepted);
  const processes = JSON.parse(await readFile(join(home, 'processes.json'), 'utf8'));
  expect(Object.keys(processes).sort()).toEqual(['api', 'postgres', 'temporal', 'worker']);
  expect(await again.stop()).toBe(0);
});
