import { expect, it } from 'vitest';
import { ThreadQueueError } from '../../../lib/threads/fair-queue.ts';
import { createThreadQueue } from '../../../lib/threads/thread-queue.ts';
import { watchEventLoop } from '../../../lib/threads/watch-event-loop.ts';

const scriptOf = (body: string) =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`import { parentPort, workerData } from 'node:worker_threads';\n${body}`)}`,
  );
const echo = scriptOf('parentPort.postMessage(workerData);');
const burn = scriptOf(
  'const until = performance.now() + workerData; while (performance.now() < until); parentPort.postMessage(1);',
);
const endless = scriptOf('for (;;);');
const organizationId = 'org_one';
const limits = { atOnce: 1, waiting: 2, deadlineMs: 30_000, heapMb: 64 };

it('returns the results of tasks, one after the other, and refuses those that would wait too long', async () => {
  const queue = createThreadQueue(limits);
  const tasks = [1, 2, 3, 4].map((data) => queue.run<number, number>({ organizationId, script: echo, data }));
  const settled = await Promise.allSettled(tasks);
  expect(settled.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.name))).toEqual([
    1,
    2,
    3,
    'ThreadQueueError',
  ]);
  expect(await queue.run({ organizationId, script: echo, data: 'again' })).toBe('again');
});

it('lets organizations take turns, and makes room for one whose tasks another would keep out', async () => {
  const queue = createThreadQueue(limits);
  const ended: string[] = [];
  const run = (holder: string) =>
    queue.run({ organizationId: holder, script: echo, data: null }).then(
      () => ended.push(holder),
      (error: Error) => ended.push(`${holder} ${error.name}`),
    );
  await Promise.all(['many', 'many', 'many', 'few'].map(run));
  expect(ended).toEqual(['many ThreadQueueError', 'many', 'many', 'few']);
});

it('ends a task at its deadline, rethrows its error, and continues with the next', async () => {
  const brief = createThreadQueue({ ...limits, deadlineMs: 100 });
  await expect(brief.run({ organizationId, script: endless, data: null })).rejects.toThrow(ThreadQueueError);
  const queue = createThreadQueue(limits);
  await expect(queue.run({ organizationId, script: scriptOf('throw new TypeError("x")'), data: null })).rejects.toThrow(
    'x',
  );
  expect(await queue.run({ organizationId, script: echo, data: 1 })).toBe(1);
});

it('keeps the event loop free; the same work outside a thread blocks it', async () => {
  const blocks: number[] = [];
  using _ = watchEventLoop({ blockedMs: 60, onBlocked: ({ cpuMs }) => blocks.push(cpuMs) });
  await createThreadQueue(limits).run({ organizationId, script: burn, data: 90 });
  expect(blocks).toEqual([]);
  const burnt = process.threadCpuUsage();
  while (process.threadCpuUsage(burnt).user < 80_000);
  await expect.poll(() => blocks.length).toBe(1);
});
