import { expect, it } from 'vitest';
import { GenerationError } from '../../../../api/assistant/generate.ts';
import { OpenStreams } from '../../../../api/assistant/open-streams.ts';

it('waits for streams that finish, and tells the others why they have to end', async () => {
  const streams = new OpenStreams();
  const brief = Promise.withResolvers<void>();
  const reasons: unknown[] = [];
  const running = [
    streams.run('org_one', () => brief.promise),
    streams.run(
      'org_one',
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
  await expect(streams.run('org_one', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(streams.size).toBe(0);
  await streams.drain(10_000);
});

it('says who has as many streams as others, so that an overload refuses those that caused it', async () => {
  const streams = new OpenStreams();
  const end = Promise.withResolvers<void>();
  const shares = () => ['many', 'few', 'none'].map((organizationId) => streams.hasShare(organizationId));
  expect(shares()).toEqual([true, true, true]);
  const running = ['many', 'many', 'many'].map((owner) => streams.run(owner, () => end.promise));
  expect(shares()).toEqual([true, false, false]);
  running.push(streams.run('few', () => end.promise));
  expect(shares()).toEqual([true, false, false]);
  running.push(...['few', 'few'].map((owner) => streams.run(owner, () => end.promise)));
  expect(shares()).toEqual([true, true, false]);
  end.resolve();
  await Promise.all(running);
});
