import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { openLogFile } from '../../../local/processes/log-file.ts';
import { openChildren } from '../../../local/processes/stack-children.ts';
import { superviseProcess } from '../../../local/processes/supervised-process.ts';
import { mountSmallDisk } from '../../support/sandbox/small-disk.ts';

it('keeps the supervisor and its processes running on a full disk, and records them once there is space again', async (context) => {
  await using disk = await mountSmallDisk(4);
  if (disk === null) return context.skip();
  const directory = join(disk.directory, 'home');
  const folders = { repositories: join(directory, 'r'), work: join(directory, 'w'), logs: join(directory, 'logs') };
  for (const folder of Object.values(folders)) await mkdir(folder, { recursive: true });
  const said: string[] = [];
  using children = await openChildren({
    home: { directory, ...folders, [Symbol.dispose]: () => undefined },
    log: (line) => void said.push(line),
    signal: new AbortController().signal,
    isFresh: false,
  });
  const script = `console.log('x'.repeat(5000)); setInterval(() => console.log('alive '.repeat(1000)), 5)`;
  await using supervised = await superviseProcess(
    {
      name: 'API',
      command: process.execPath,
      args: ['-e', script],
      env: {},
      cwd: '/',
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 30_000,
      startTimeoutMs: 60_000,
      untilReady: ({ untilLine }) => untilLine((line) => line.startsWith('alive')),
    },
    { ...children.hooksOf('api'), backOffMs: 20 },
  );
  const recorded = async () => JSON.parse(await readFile(join(directory, 'processes.json'), 'utf8')).api?.pid;
  const first = supervised.pid;
  expect(await recorded()).toBe(first);

  await disk.fill();
  process.kill(first!, 'SIGKILL');
  await vi.waitFor(() => expect([null, first]).not.toContain(supervised.pid), { timeout: 60_000 });
  await vi.waitFor(() => expect(said).toContain('API runs again'), { timeout: 60_000 });
  expect(said.filter((line) => line.startsWith('The ids of the processes cannot be written: ENOSPC'))).toHaveLength(1);
  expect(children.pids().api).toBe(supervised.pid);

  await disk.empty();
  await vi.waitFor(async () => expect(await recorded()).toBe(supervised.pid), { timeout: 60_000 });
  const size = async () => (await stat(join(folders.logs, 'api.log'))).size;
  const before = await size();
  await vi.waitFor(async () => expect(await size()).toBeGreaterThan(before), { timeout: 60_000 });
});

it('drops a line that cannot be written, even where its file would be rotated', async (context) => {
  await using disk = await mountSmallDisk(14);
  if (disk === null) return context.skip();
  const path = join(disk.directory, 'api.log');
  using file = openLogFile(path);
  for (let count = 0; count < 11; count += 1) file.write('x'.repeat(1 << 20));
  await disk.fill();
  file.write('lost'.repeat(2_000));
  file.write('lost'.repeat(2_000));
  await disk.empty();
  file.write('written');
  expect(await readFile(path, 'utf8')).toMatch(/written\n$/);
});
