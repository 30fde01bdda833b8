import { ApplicationFailure, type Context } from '@temporalio/activity';
import { expect, it } from 'vitest';
import { shareSlots } from '../../../worker/share-slots.ts';

const input = { args: [], headers: {} };

it('spreads the next tries of an organization that has its share, and delays no other by them', async () => {
  const intercept = shareSlots(4);
  const executing = (organizationId: string, work: Promise<unknown>) => {
    const context = { info: { priority: { fairnessKey: organizationId } } } as Context;
    return intercept(context).inbound!.execute!(input, () => work);
  };
  const delayOf = async (organizationId: string) => {
    const refusal = await executing(organizationId, Promise.resolve()).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ApplicationFailure);
    return Number((refusal as ApplicationFailure).nextRetryDelay);
  };
  const ended = Promise.withResolvers<void>();
  const running = [executing('busy', ended.promise), executing('busy', ended.promise)];

  const began = performance.now();
  const delays: number[] = [];
  for (let waiting = 0; waiting < 200; waiting += 1) delays.push(await delayOf('busy'));
  const tookMs = performance.now() - began;
  expect(delays[0]).toBe(250);
  // 40 tries a second
  expect(delays[199]).toBeGreaterThan(250 + 199 * 25 - tookMs - 1);
  for (let waiting = 200; waiting < 4_000; waiting += 1) delays.push(await delayOf('busy'));
  expect(delays.at(-1)).toBe(60_000);

  running.push(executing('quiet', ended.promise));
  expect(await delayOf('quiet')).toBe(250);
  ended.resolve();
  await Promise.all(running);
  expect(await executing('busy', Promise.resolve('done'))).toBe('done');
});
