import { execFile } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { testKeysText } from '../support/database/encryption.ts';
import { startScriptedModelServer } from '../support/servers/scripted-model-server.ts';
import { createTestHome, removeTestHome, startTestStack, type TestStack } from '../support/stack/stack.ts';

const run = promisify(execFile);

async function ask({ localJson }: TestStack, path: string, body?: unknown): Promise<any> {
  const { baseUrl, projectId, adminKey } = localJson;
  const response = await fetch(`${baseUrl}/v2/agent/${projectId}/job${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return response.json();
}

async function rotate(env: NodeJS.ProcessEnv): Promise<Record<string, string>> {
  const program = resolve(import.meta.dirname, '../../cli/docket.ts');
  const { stdout } = await run(process.execPath, [program, 'encryption', 'rotate', '--json'], { env });
  const rows: { id: string; state: string }[] = JSON.parse(stdout);
  return Object.fromEntries(rows.map(({ id, state }) => [id, state]));
}

/** Returns all files below a folder as one text. */
async function contentOf(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return (await Promise.all(files.map((file) => readFile(file, 'latin1')))).join('\n');
}

it(
  'a job that started under one key of the local stack ends under another, and nothing is readable on Temporal’s disk',
  { timeout: 400_000 },
  async () => {
    await using resources = new AsyncDisposableStack();
    const home = await createTestHome();
    resources.defer(() => removeTestHome(home));
    const model = resources.use(await startScriptedModelServer());
    const env = {
      OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
      DOCKET_SELF_REVIEW: 'off',
      OPENAI_COMPATIBLE_API_KEY: 'key',
    };
    const write = { toolCalls: [{ name: 'write', input: { path: 'new.txt', content: 'new\n' } }] };
    const finish = { toolCalls: [{ name: 'finish', input: { title: 'Add a file', summary: 'Added.' } }] };
    model.script({ ...write, stall: true });

    const first = resources.use(await startTestStack({ home, env }));
    const { id } = await ask(first, '', { prompt: 'Add a file', model: 'compatible/scripted' });
    await model.nextRequest();
    const local = await readFile(join(home, 'encryption-key'), 'utf8');
    expect(local).toMatch(/^local:/);
    expect((await stat(join(home, 'encryption-key'))).mode & 0o777).toBe(0o600);
    expect(await first.stop()).toBe(0);

    model.respondWith(({ body }) => (body.messages.some(({ role }) => role === 'tool') ? finish : write));
    const keys = `${testKeysText('k2')},${local}`;
    const second = resources.use(await startTestStack({ home, env: { ...env, DOCKET_ENCRYPTION_KEYS: keys } }));
    await expect
      .poll(async () => (await ask(second, `/${id}`)).status, { timeout: 120_000, interval: 200 })
      .toBe('completed');
    await expect
      .poll(() => rotate(second.env), { timeout: 120_000, interval: 1_000 })
      .toEqual({ k2: 'encrypts', local: 'can be removed, once every process has the new list' });
    expect(await second.stop()).toBe(0);

    const disk = await contentOf(join(home, 'temporal'));
    expect(disk).toContain('encryption-key-id');
    for (const words of ['maxTokens', 'toolCallCount', 'idleDays', 'prLink']) expect(disk).not.toContain(words);
    const logs = await contentOf(join(home, 'logs'));
    for (const key of keys.split(',')) expect(logs).not.toContain(key.split(':')[1]);
  },
);
