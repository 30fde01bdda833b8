import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createThreadPool } from '../../../lib/threads/thread-pool.ts';
import { ThreadQueueError } from '../../../lib/threads/fair-queue.ts';

/** Answers `{ add }` with the sum so far in its thread, and does what else a message says. A hold leaves the processor to others. */
const script = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, threadId } from 'node:worker_threads';
    let sum = 0;
    parentPort.on('message', ({ add = 0, holdMs = 0, fail, exit, quiet, count }) => {
      sum += add;
      if (count) { Atomics.add(count, 0, 1); Atomics.notify(count, 0); }
      if (quiet) return;
      if (exit) process.exit();
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, holdMs);
      parentPort.postMessage(fail ? { error: new TypeError(fail) } : { result: { sum, threadId } });
    });`)}`,
);
const limits = { script, threads: 1, waiting: 2, deadlineMs: 30_000, resourceLimits: {} };
const live = new AbortController().signal;

interface Answer {
  sum: number;
  threadId: number;
}

it('answers requests in order, keeps its threads, and rejects requests that would wait too long', async () => {
  await using pool = createThreadPool(limits);
  const settled = await Promise.allSettled([1, 2, 3, 4].map((add) => pool.run<Answer>({ add }, { signal: live })));
  expect(settled.map((one) => (one.status === 'fulfilled' ? one.value.sum : one.reason.name))).toEqual([
    1,
    3,
    6,
    'ThreadQueueError',
  ]);
  pool.tell({ add: 10, quiet: true });
  expect((await pool.run<Answer>({ add: 1 }, { signal: live })).sum).toBe(17);
});

it('uses several threads at once, and no more than it may', async () => {
  await using pool = createThreadPool({ ...limits, threads: 2, waiting: 10 });
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => pool.run<Answer>({ holdMs: 50 }, { signal: live })),
  );
  expect(new Set(answers.map(({ threadId }) => threadId)).size).toBe(2);
});

it('rejects with the error of a thread, and replaces a thread that exits or exceeds the deadline', async () => {
  await using pool = createThreadPool({ ...limits, deadlineMs: 5_000 });
  await expect(pool.run({ fail: 'x' }, { signal: live })).rejects.toThrow(new TypeError('x'));
  await expect(pool.run({ exit: true }, { signal: live })).rejects.toThrow('without an answer');
  expect(await pool.run<Answer>({ add: 1 }, { signal: live })).toMatchObject({ sum: 1 });
  await using brief = createThreadPool({ ...limits, deadlineMs: 300 });
  await expect(brief.run({ holdMs: 60_000 }, { signal: live })).rejects.toThrow(ThreadQueueError);
});

it('drops a waiting request when its reader has left, and ignores the answer to one that is running', async () => {
  await using pool = createThreadPool(limits);
  const reader = new AbortController();
  const running = pool.run({ holdMs: 200 }, reader);
  const waiting = pool.run({ add: 100 }, reader);
  const other = pool.run<Answer>({ add: 1 }, { signal: live });
  await delay(1);
  reader.abort(new Error('left'));
  await expect(running).rejects.toThrow('left');
  await expect(waiting).rejects.toThrow('left');
  expect((await other).sum).toBe(1);
});

it('sends requests ahead, so that a thread goes on while this one is busy', async () => {
  await using pool = createThreadPool({ ...limits, ahead: 3 });
  await pool.run({}, { signal: live });
  const count = new Int32Array(new SharedArrayBuffer(4));
  const answers = Promise.all(Array.from({ length: 4 }, () => pool.run<Answer>({ add: 1, count }, { signal: live })));
  for (let done = 0; done < 4; done = Atomics.load(count, 0))
    expect(Atomics.wait(count, 0, done, 60_000)).not.toBe('timed-out');
  expect((await answers).map(({ sum }) => sum)).toEqual([1, 2, 3, 4]);
});

it('sends the waiting requests of a lost thread to another one, except those that were given up', async () => {
  await using pool = createThreadPool({ ...limits, ahead: 3 });
  const reader = new AbortController();
  const lost = pool.run({ exit: true }, { signal: live });
  const left = pool.run({ add: 100 }, reader);
  const other = pool.run<Answer>({ add: 1 }, { signal: live });
  reader.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  await expect(lost).rejects.toThrow('without an answer');
  expect((await other).sum).toBe(1);
});

it('lets holders take turns, and rejects the newest request of the one with the most', async () => {
  await using pool = createThreadPool({ ...limits, waiting: 4 });
  const order: string[] = [];
  const ask = (holder: string) =>
    pool.run<Answer>({}, { signal: live, holder }).then(
      () => order.push(holder),
      (error: Error) => order.push(`${holder} ${error.name}`),
    );
  await Promise.all(['many', 'many', 'many', 'many', 'many', 'few', 'other', 'few'].map(ask));
  expect(order).toEqual([
    'many ThreadQueueError',
    'many ThreadQueueError',
    'many ThreadQueueError',
    'many',
    'many',
    'few',
    'other',
    'few',
  ]);
});
