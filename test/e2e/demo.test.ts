import { spawn } from 'node:child_process';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { localJsonSchema, type LocalJson } from '../../local/local-json.ts';
import { identityOf } from '../../local/processes/process-identity.ts';
import { createTestHome, removeTestHome } from '../support/stack.ts';

vi.setConfig({ testTimeout: 600_000 }); // a whole stack each, on a slow machine

const checkout = resolve(import.meta.dirname, '../..');

/** `npm run demo`'s program in a home of its own; what it prints can be awaited. */
async function runDemo() {
  const home = await createTestHome();
  await mkdir(join(home, 'demo'), { recursive: true });
  const { DATABASE_URL: _database, TEMPORAL_ADDRESS: _temporal, ...inherited } = process.env;
  const env = { ...inherited, DOCKET_HOME: home };
  const child = spawn(process.execPath, [join(checkout, 'local/demo.ts')], { env, cwd: checkout });
  let output = '';
  let onOutput = () => {};
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      onOutput();
    });
  }
  const ended = new Promise<number | null>((done) => child.once('close', (code) => done(code)));
  return {
    child,
    ended,
    output: () => output,
    /** Also returns when the demo has ended without having said it. */
    async said(text: string): Promise<void> {
      const seen = new Promise<void>((done) => {
        onOutput = () => {
          if (output.includes(text)) done();
        };
        onOutput();
      });
      await Promise.race([seen, ended]);
    },
    async readLocalJson(): Promise<LocalJson> {
      return localJsonSchema.parse(JSON.parse(await readFile(join(home, 'demo/local.json'), 'utf8')));
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
      await removeTestHome(join(home, 'demo'));
      await rm(dirname(home), { recursive: true, force: true });
    },
  };
}

async function livingOf({ pids }: LocalJson): Promise<string[]> {
  const named = Object.entries(pids).filter(([, pid]) => pid !== null);
  const identities = await Promise.all(
    named.map(async ([name, pid]) => ((await identityOf(pid!)) === null ? [] : [name])),
  );
  return identities.flat();
}

const changedFiles = [
  'README.md',
  'docs/guides/first-lamp.md',
  'docs/guides/reset.md',
  'docs/guides/scenes.md',
  'docs/guides/troubleshooting.md',
  'docs/index.md',
  'docs/reference/api.md',
];

describe('npm run demo', () => {
  it('shows a prompt become a pull request and a question become an answer, and leaves nothing behind', async () => {
    await using demo = await runDemo();
    await demo.said('A prompt becomes a pull request');
    const stack = await demo.readLocalJson();
    expect((await livingOf(stack)).sort()).toEqual(['api', 'postgres', 'temporal', 'worker']);
    const code = await demo.ended;
    const output = demo.output();
    expect(code, output).toBe(0);

    for (const step of ['PostgreSQL', 'Temporal', 'API', 'Worker'])
      expect(output).toMatch(new RegExp(`${step}: \\d+\\.\\d s`));
    expect(output).toMatch(/job_\w+: (?:queued|preparing|running|publishing), \d+ steps/);
    expect(output).toContain('"status": "completed"');
    expect(output).toMatch(new RegExp(`Pull request: ${stack.baseUrl}/pulls/pr_\\w+`));
    expect([...output.matchAll(/^diff --git a\/(\S+) b\/\S+$/gm)].map(([, file]) => file)).toEqual(changedFiles);
    const lines = output.split('\n');
    const removed = lines.filter((line) => /^-(?!--)/.test(line) && !line.startsWith('- Done'));
    const added = lines.filter((line) => /^\+(?!\+\+)/.test(line));
    expect(added.map((line) => line.slice(1))).toEqual(
      expect.arrayContaining(removed.map((line) => line.slice(1).replaceAll('colour', 'color'))),
    );
    expect(added.filter((line) => line.includes('colour'))).toEqual([]);
    expect(output).toMatch(/Set `retryLimit` in\s`lamp\.json`/);
    expect(output).toContain('Sources:\n  - Troubleshooting (/guides/troubleshooting#a-lamp-does-not-answer)\n');
    expect(output).not.toContain(stack.adminKey);
    expect(await livingOf(stack)).toEqual([]);
  });

  it('stops everything at Ctrl-C', async () => {
    await using demo = await runDemo();
    await demo.said('POST ');
    const stack = await demo.readLocalJson();
    demo.child.kill('SIGINT');
    expect(await demo.ended).toBe(1);
    expect(demo.output()).toContain('Interrupted; everything is stopped.');
    expect(await livingOf(stack)).toEqual([]);
  });

  it('stops at Ctrl-C also while its servers come up', async () => {
    await using demo = await runDemo();
    await demo.said('Bringing the stack up');
    demo.child.kill('SIGINT');
    expect(await demo.ended).toBe(1);
    expect(demo.output()).toContain('Interrupted; everything is stopped.');
  });
});
