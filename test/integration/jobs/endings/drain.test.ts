import { expect, it } from 'vitest';
import { createFleet, type Fleet } from '../../../support/stack/fleet.ts';
import type { RecordedRequest } from '../../../support/servers/scripted-model-server.ts';

const finish = { toolCalls: [{ name: 'finish', input: { title: 'Write', summary: 'Wrote.' } }] };

function write(path: string) {
  return { toolCalls: [{ name: 'write', input: { path, content: 'new\n' } }] };
}

async function expectPublished(fleet: Fleet, jobId: string): Promise<void> {
  expect(await fleet.ended(jobId)).toMatchObject({ status: 'completed', failureCategory: null });
  expect(fleet.model.violations).toEqual([]);
}

it('a draining worker lets a model call finish, and hands the next step to another', { tags: 'slow' }, async () => {
  await using fleet = await createFleet();
  const { model } = fleet;
  const first = await fleet.startWorker();
  model.script({ ...write('a.txt'), stall: true });
  const jobId = await fleet.startJob('Go');
  const asked = await model.nextRequest();
  first.child.kill('SIGTERM');
  await first.said('"msg":"worker stopping"');
  model.script(write('b.txt'), finish);
  asked.release();
  expect(await asked.closed).toBe('complete');
  expect(await first.closed).toBe(0);
  expect(model.requests).toHaveLength(1);
  await fleet.startWorker();
  await expectPublished(fleet, jobId);
  expect(model.requests).toHaveLength(3);
});

it(
  'a worker whose grace period is over hands back a running model call, and ends cleanly',
  { tags: 'slow' },
  async () => {
    await using fleet = await createFleet();
    const { model } = fleet;
    const first = await fleet.startWorker({ DOCKET_GRACE_SECONDS: '1' });
    model.script(write('a.txt'), { ...finish, stall: true });
    const jobId = await fleet.startJob('Go');
    await model.nextRequest();
    const hanging = await model.nextRequest();
    first.child.kill('SIGTERM');
    expect(await hanging.closed).toBe('aborted');
    expect(await first.closed).toBe(0);
    model.script(finish);
    await fleet.startWorker();
    await expectPublished(fleet, jobId);
    // the step whose answer was stored is not paid for again
    expect(model.requests).toHaveLength(3);
  },
);

it(
  'a rolling replacement of workers under load fails no job and pays for no answer twice',
  { tags: 'slow' },
  async () => {
    await using fleet = await createFleet();
    const { model } = fleet;
    const steps = 4;
    const stepOf = ({ body }: RecordedRequest) => body.messages.filter(({ role }) => role === 'assistant').length + 1;
    model.respondWith((request) => {
      const step = stepOf(request);
      return { ...(step > steps ? finish : write(`${step}.txt`)), delayMs: 100 };
    });
    let workers = [await fleet.startWorker(), await fleet.startWorker()];
    const jobs: string[] = [];
    for (let replaced = 0; replaced < 4; replaced += 1) {
      for (let job = 0; job < 4; job += 1) jobs.push(await fleet.startJob(`Job ${jobs.length}`));
      const [oldest, ...others] = workers;
      oldest!.child.kill('SIGTERM');
      workers = [...others, await fleet.startWorker()];
      expect(await oldest!.closed).toBe(0);
    }
    for (const jobId of jobs) await expectPublished(fleet, jobId);
    expect(model.requests).toHaveLength(jobs.length * (steps + 1));
  },
);
