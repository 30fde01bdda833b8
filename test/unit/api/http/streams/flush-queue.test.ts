import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createFlushQueue } from '../../../../../api/http/streams/flush-queue.ts';

it('flushes the streams written in one turn of the event loop together', async () => {
  const schedule = createFlushQueue();
  const flushed: string[] = [];
  schedule(() => flushed.push('a'));
  schedule(() => flushed.push('b'));
  expect(flushed).toEqual([]);
  await turn();
  expect(flushed).toEqual(['a', 'b']);
});

it('includes what is written during a flush in the next one', async () => {
  const schedule = createFlushQueue();
  const flushed: string[] = [];
  schedule(() => {
    flushed.push('a');
    schedule(() => flushed.push('b'));
  });
  await turn();
  expect(flushed).toEqual(['a']);
  await turn();
  expect(flushed).toEqual(['a', 'b']);
});
