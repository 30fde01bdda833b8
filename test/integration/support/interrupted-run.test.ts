import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { expect, it, vi } from 'vitest';
import { identityOf } from '../../../local/processes/process-identity.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const checkout = resolve(import.meta.dirname, '../../..');
const tests = ['test/support/run-tests.ts', 'test', 'test/integration/db/migrate'];
const bench = ['test/suites/bench/main.ts', 'steps', '--quick'];
const chaos = (suite: string) => ['test/suites/chaos/main.ts', suite, '--jobs', '1', '--kills', '0'];

it.each([
  { of: 'the tests', command: tests, home: /^docket-test-data-/, inside: '', signal: 'SIGINT', code: 130 },
  { of: 'the tests', command: tests, home: /^docket-test-data-/, inside: '', signal: 'SIGTERM', code: 130 },
  {
    of: 'a chaos suite',
    command: chaos('jobs'),
    home: /^docket-test-stack-/,
    inside: 'home',
    signal: 'SIGTERM',
    code: null,
  },
  {
    of: 'a suite on a stack',
    command: chaos('mixed'),
    home: /^docket-test-stack-/,
    inside: 'home',
    signal: 'SIGTERM',
    code: 130,
  },
  { of: 'a bench', command: bench, home: /^docket-bench-/, inside: '', signal: 'SIGTERM', code: null },
] as const)(
  'a run of $of that receives $signal leaves no server behind',
  { tags: 'slow' },
  async ({ command, home: name, inside, signal, code }) => {
    await using cleanup = new AsyncDisposableStack();
    const folder = temporaryDirectory();
    await chmod(folder, 0o711); // PostgreSQL runs under another account when the tests run as root
    const programs = join(folder, 'programs');
    await mkdir(programs);
    for (const name of ['oxfmt', 'oxlint', 'tsc'])
      await writeFile(join(programs, name), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    const path = [programs, join(checkout, 'node_modules/.bin'), process.env['PATH']].join(delimiter);
    const run = spawn(process.execPath, command, {
      cwd: checkout,
      env: { ...process.env, TMPDIR: folder, PATH: path, DOCKET_TEST_DIRECTORY: undefined },
      stdio: 'ignore',
    });
    cleanup.defer(() => void run.kill('SIGKILL'));
    const ended = once(run, 'close');

    const homeOf = async () => (await readdir(folder)).find((entry) => name.test(entry));
    const servers = await vi.waitFor(async () => {
      const text = await readFile(join(folder, (await homeOf())!, inside, 'processes.json'), 'utf8');
      const entries: Record<string, { pid: number; identity: string }> = JSON.parse(text);
      expect(Object.keys(entries)).toEqual(expect.arrayContaining(['postgres', 'temporal']));
      return Object.values(entries);
    }, 180_000);
    const home = join(folder, (await homeOf())!);
    run.kill(signal);
    expect((await ended)[0]).toBe(code);
    await expect.poll(() => existsSync(home)).toBe(false);
    await expect
      .poll(async () => (await readdir(folder)).filter((name) => name.startsWith('docket-test-data-')))
      .toEqual([]);
    for (const { pid, identity } of servers) await expect.poll(() => identityOf(pid)).not.toBe(identity);
  },
);
