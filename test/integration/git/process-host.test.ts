import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import type { ProcessCall } from '../../../activities/git/git-process.ts';
import { createProcessHost, ProcessHostError } from '../../../activities/git/process-host.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const callOf = (call: Partial<ProcessCall>): ProcessCall => ({
  file: 'sh',
  args: [],
  cwd: tmpdir(),
  env: { PATH: process.env['PATH'] ?? '' },
  stdin: null,
  secretInput: null,
  maxFileBytes: null,
  maxMemoryBytes: null,
  maxOutputBytes: 1e9,
  timeoutMs: 60_000,
  signal: new AbortController().signal,
  ...call,
});

const shell = (script: string, call: Partial<ProcessCall> = {}) => callOf({ args: ['-c', script], ...call });

let directory: string;
beforeEach(async () => {
  directory = temporaryDirectory();
});

/** Writes the id of a process that it leaves running to a file. */
const lingering = 'sleep 600 & echo $! > pid.new; mv pid.new pid; wait';

const lingerer = () =>
  vi.waitFor(async () => Number(await readFile(join(directory, 'pid'), 'utf8')), { timeout: 60_000 });

const untilGone = (pid: number) => vi.waitUntil(() => !isRunning(pid), { timeout: 60_000 });

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('returns the output, the errors and the exit code of a process', async () => {
  using host = createProcessHost();
  const outcome = await host.run(
    shell('cat; cat <&3; echo wrong >&2; exit 3', { stdin: 'in ', secretInput: 'secret' }),
  );
  expect(outcome).toMatchObject({ stderr: 'wrong\n', exitCode: 3, stopped: null });
  expect(outcome.stdout.toString()).toBe('in secret');
});

test('passes on many megabytes of input and output byte for byte, for several processes at once', async () => {
  using host = createProcessHost();
  const bytes = (fill: number) => Buffer.alloc(5_000_003, Buffer.from([fill, 0, 255, fill + 1, 10]));
  const outcomes = await Promise.all([1, 2, 3].map((fill) => host.run(callOf({ file: 'cat', stdin: bytes(fill) }))));
  expect(outcomes.map(({ stdout }, index) => stdout.equals(bytes(index + 1)))).toEqual([true, true, true]);
});

test('a process that does not read its input is not an error', async () => {
  using host = createProcessHost();
  await expect(host.run(shell('exit 0', { stdin: Buffer.alloc(5_000_000) }))).resolves.toMatchObject({ exitCode: 0 });
});

test('reports that a program does not exist', async () => {
  using host = createProcessHost();
  await expect(host.run(callOf({ file: 'no-such-program' }))).rejects.toThrow('ENOENT');
});

test('stops an aborted process with everything that it started, and one that prints too much', async () => {
  using host = createProcessHost();
  const stop = new AbortController();
  const called = host.run(shell(lingering, { signal: stop.signal, cwd: directory }));
  const pid = await lingerer();
  stop.abort();
  expect(await called).toMatchObject({ stopped: 'aborted', exitCode: -1 });
  await untilGone(pid);
  expect(await host.run(shell('yes', { maxOutputBytes: 1_000 }))).toMatchObject({ stopped: 'overflow' });
});

test('a killed host ends its calls with everything that they started, and the next call gets a new host', async () => {
  using host = createProcessHost();
  const { stdout } = await host.run(shell('echo $PPID'));
  const called = host.run(shell(lingering, { cwd: directory }));
  const pid = await lingerer();
  process.kill(Number(stdout.toString()), 'SIGKILL');
  await expect(called).rejects.toThrow(ProcessHostError);
  await untilGone(pid);
  await expect(host.run(shell('exit 0'))).resolves.toMatchObject({ exitCode: 0 });
});

test('everything a host has started ends when its worker is killed', async () => {
  const module = JSON.stringify(import.meta.resolve('../../../activities/git/process-host.ts'));
  const call = JSON.stringify({ ...shell(lingering, { cwd: directory }), signal: undefined });
  const script = `const { createProcessHost } = await import(${module});
    await createProcessHost().run({ ...${call}, signal: new AbortController().signal });`;
  const worker = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'ignore' });
  const pid = await lingerer();
  const ended = once(worker, 'exit');
  worker.kill('SIGKILL');
  await ended;
  await untilGone(pid);
});
