import { describe, expect, inject, it, vi } from 'vitest';
import { jobWorkflowId } from '../../../../workflows/contract/messages.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { createTestRepository } from '../../../support/git-repository.ts';
import { openLine } from '../../../support/servers/line.ts';
import { startScriptedModelServer, type ScriptedReply } from '../../../support/servers/scripted-model-server.ts';
import { startTestWorker } from '../../../support/stack/worker.ts';
import { writing } from '../../../support/writing-script.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const [hostname, port] = inject('temporalAddress').split(':') as [string, string];

const long = { timeout: 60_000, interval: 100 };

/** Temporal tells an attempt at its heartbeat, twice a second, that it is no longer known. */
const looksOfSomeBeats = 8;

/**
 * A job whose worker is cut off from Temporal while the model works on its first answer, until Temporal starts another
 * attempt; resolves when that one waits.
 */
async function loseSight(first: ScriptedReply, ...further: ScriptedReply[]) {
  await using resources = new AsyncDisposableStack();
  const repository = resources.use(await createTestRepository());
  const model = resources.use(await startScriptedModelServer());
  const line = resources.use(await openLine({ hostname, port }));
  model.script({ ...first, stall: true }, ...further);
  let looks = 0;
  const worker = resources.use(
    await startTestWorker({
      database,
      modelUrl: model.baseUrl,
      temporalAddress: `127.0.0.1:${line.port}`,
      change: ({ leases }) => ({
        leases: {
          ...leases,
          isInFlight(ref) {
            looks += 1;
            return leases.isInFlight(ref);
          },
        },
      }),
    }),
  );
  const id = await worker.createJob({ prompt: 'Go', repository: repository.path });
  await worker.startJob(id);
  const request = await model.nextRequest();
  const activityOf = async () => {
    const { raw } = await worker.client.workflow.getHandle(jobWorkflowId(id, 1)).describe();
    return raw.pendingActivities?.[0];
  };
  await vi.waitUntil(async () => (await activityOf())?.lastHeartbeatTime != null, long);
  line.cut();
  await vi.waitUntil(async () => ((await activityOf())?.attempt ?? 0) > 1, long);
  line.mend();
  await vi.waitUntil(() => looks >= looksOfSomeBeats, long);
  const scene = resources.move();
  return { request, model, ended: () => worker.ended(id), [Symbol.asyncDispose]: () => scene.disposeAsync() };
}

describe('an attempt that Temporal lost track of', () => {
  it('continues its call, and the next one uses its answer', { tags: 'slow' }, async () => {
    await using lost = await loseSight(writing[0]!, writing[1]!);
    lost.request.release();
    expect(await lost.request.closed).toBe('complete');
    expect(await lost.ended()).toMatchObject({ status: 'completed', steps: 2, inputTokens: 200 });
    expect(lost.model.requests).toHaveLength(2);
    expect(lost.model.violations).toEqual([]);
  });

  it('leaves the call to the next one when it fails', { tags: 'slow' }, async () => {
    await using lost = await loseSight({ status: 503 }, ...writing);
    lost.request.release();
    expect(await lost.ended()).toMatchObject({ status: 'completed', steps: 2, inputTokens: 200 });
    expect(lost.model.requests).toHaveLength(3);
    expect(lost.model.violations).toEqual([]);
  });
});
