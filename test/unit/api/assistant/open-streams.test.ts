import { expect, it } from 'vitest';
import { GenerationError } from '../../../../api/assistant/generate.ts';
import { OpenStreams } from '../../../../api/assistant/open-streams.ts';

it('waits for streams that finish, and tells the others why they have to end', async () => {
  const streams = new OpenStreams();
  const brief = Promise.withResolvers<void>();
  const reasons: unknown[] = [];
  const running = [
    streams.run(() => brief.promise),
    streams.run(
      (signal) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason);
            resolve();
          }),
        ),
    ),
  ];
  expect([streams.size, streams.isDraining]).toEqual([2, false]);
  const drained = streams.drain(20);
  expect(streams.isDraining).toBe(true);
  brief.resolve();
  await drained;
  await Promise.all(running);
  expect(reasons).toEqual([expect.any(GenerationError)]);
  expect(streams.size).toBe(0);
});

it('forgets a stream that fails, and passes the failure on', async () => {
  const streams = new OpenStreams();
  await expect(streams.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(streams.size).toBe(0);
  await streams.drain(10_000);
});
