import { Worker } from 'node:worker_threads';
import { setTimeout as wait } from 'node:timers/promises';
import { availableParallelism } from 'node:os';
import { expect, it } from 'vitest';
import { watchEventLoop } from '../../../lib/threads/watch-event-loop.ts';

function burn(ms: number): void {
  const before = process.threadCpuUsage();
  const usedMs = () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  while (usedMs() < ms);
}

/** Threads that take the processors from this one, and from everything else. */
function startLoad(): Disposable {
  const threads = Array.from(
    { length: availableParallelism() },
    () => new Worker('for (;;);', { eval: true, resourceLimits: { maxOldGenerationSizeMb: 16 } }),
  );
  return { [Symbol.dispose]: () => threads.forEach((thread) => void thread.terminate()) };
}

/** The reports for tasks of this length, each started at a different moment between two checks. */
async function holdsOf(ms: number, count: number): Promise<number[]> {
  const blocks: number[] = [];
  using _ = watchEventLoop({ blockedMs: 50, onBlocked: ({ cpuMs }) => blocks.push(cpuMs) });
  for (let task = 0; task < count; task += 1) {
    await wait(12 + task);
    burn(ms);
  }
  await wait(30);
  return blocks;
}

it('detects each block of 60 ms, whenever it starts', async () => {
  const blocks = await holdsOf(60, 6);
  expect(blocks).toHaveLength(6);
  for (const cpuMs of blocks) expect(cpuMs).toBeGreaterThan(59);
});

// costly, because it keeps every processor busy
it('reports no short tasks on a machine with busy processors, but detects a long one', { tags: 'slow' }, async () => {
  using _ = startLoad();
  expect(await holdsOf(30, 5)).toEqual([]);
  expect(await holdsOf(60, 2)).toHaveLength(2);
});
