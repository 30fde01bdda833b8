import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createFleet, type Fleet } from '../../../support/stack/fleet.ts';
import type { RecordedRequest } from '../../../support/servers/scripted-model-server.ts';
import { operatorOf } from '../../../../db/caller.ts';
import type { DeliveryRow } from '../../../../db/webhooks/webhook-deliveries.ts';
import { createSecretBox } from '../../../../lib/encryption/secret-box.ts';
import { createWebhookStore } from '../../../../db/webhooks/webhook-endpoints.ts';
import {
  deliverWebhookWorkflowId,
  jobWorkflowId,
  workerDeploymentName,
} from '../../../../workflows/contract/messages.ts';
import { buildProject } from '../../../support/database/build.ts';
import { answerWith, startReceiver } from '../../webhooks/receiver.ts';
import { listDeliveries } from '../../webhooks/webhook-worker.ts';

const finish = { toolCalls: [{ name: 'finish', input: { title: 'Write', summary: 'Wrote.', complete: true } }] };
const write = { toolCalls: [{ name: 'write', input: { path: 'new.txt', content: 'new\n' } }] };

/** Does what `temporal worker deployment set-current-version` does; Temporal refuses until the workers poll. */
async function setCurrent({ client, namespace }: Fleet, buildId: string): Promise<void> {
  for (;;) {
    try {
      await client.workflowService.setWorkerDeploymentCurrentVersion({
        namespace,
        deploymentName: workerDeploymentName,
        buildId,
      });
      return;
    } catch {
      await delay(100);
    }
  }
}

/** Of the newest execution, unless a run is given. */
async function buildIdOf({ client }: Fleet, jobId: string, runId?: string): Promise<string | null | undefined> {
  const { raw } = await client.workflow.getHandle(jobWorkflowId(jobId, 1), runId).describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
}

/** 1 draining, 2 drained (`VersionDrainageStatus`). */
async function drainageOf({ client, namespace }: Fleet, buildId: string): Promise<number | null | undefined> {
  const deploymentVersion = { deploymentName: workerDeploymentName, buildId };
  const answer = await client.workflowService.describeWorkerDeploymentVersion({ namespace, deploymentVersion });
  return answer.workerDeploymentVersionInfo?.drainageInfo?.status;
}

it(
  'a turn ends on the version it started on, new ones start on the current one, and the old one drains',
  { tags: 'slow' },
  async () => {
    await using fleet = await createFleet();
    const { model } = fleet;
    const old = await fleet.startWorker({ DOCKET_BUILD_ID: 'v1' });
    await setCurrent(fleet, 'v1');
    model.script({ ...write, stall: true });
    const before = await fleet.startJob('Before');
    const asked = await model.nextRequest();

    await fleet.startWorker({ DOCKET_BUILD_ID: 'v2' });
    await setCurrent(fleet, 'v2');
    model.script(write, finish);
    const after = await fleet.startJob('After');
    expect(await fleet.ended(after)).toMatchObject({ status: 'completed' });
    expect(await buildIdOf(fleet, after)).toBe('v2');

    model.script(finish);
    asked.release();
    expect(await fleet.ended(before)).toMatchObject({ status: 'completed' });
    expect(await buildIdOf(fleet, before)).toBe('v1');

    await expect.poll(() => drainageOf(fleet, 'v1'), { timeout: 200_000, interval: 500 }).toBe(2);
    old.child.kill('SIGTERM');
    expect(await old.closed).toBe(0);
    expect(model.violations).toEqual([]);
  },
);

it(
  'a long turn moves to the current version when it continues as new, and no longer needs the old workers',
  { tags: 'slow', timeout: 600_000 },
  async () => {
    const [stepOfRoll, stepAfterHandOver, lastStep] = [2, 270, 272];
    await using fleet = await createFleet({ maxSteps: lastStep });
    const { model, client } = fleet;
    const old = await fleet.startWorker({ DOCKET_BUILD_ID: 'v1' });
    await setCurrent(fleet, 'v1');
    let step = 0;
    const stalled = new Map<number, PromiseWithResolvers<RecordedRequest>>();
    for (const at of [stepOfRoll, stepAfterHandOver]) stalled.set(at, Promise.withResolvers());
    model.respondWith((request) => {
      step += 1;
      stalled.get(step)?.resolve(request);
      if (step === lastStep) return finish;
      const input = { path: 'new.txt', content: `${step}\n` };
      return { toolCalls: [{ name: 'write', input }], stall: stalled.has(step) };
    });
    const jobId = await fleet.startJob('Write');
    const beforeRoll = await stalled.get(stepOfRoll)!.promise;
    const { runId: firstRun } = await client.workflow.getHandle(jobWorkflowId(jobId, 1)).describe();
    await fleet.startWorker({ DOCKET_BUILD_ID: 'v2' });
    await setCurrent(fleet, 'v2');
    beforeRoll.release();

    const afterHandOver = await stalled.get(stepAfterHandOver)!.promise;
    expect(await buildIdOf(fleet, jobId, firstRun)).toBe('v1');
    expect(await buildIdOf(fleet, jobId)).toBe('v2');
    old.child.kill('SIGTERM');
    expect(await old.closed).toBe(0);
    afterHandOver.release();
    expect(await fleet.ended(jobId)).toMatchObject({ status: 'completed', steps: lastStep });
    expect(step).toBe(lastStep);
    expect(model.violations).toEqual([]);
  },
);

it('a webhook delivery moves to the current version at its next attempt', { tags: 'slow' }, async () => {
  await using fleet = await createFleet();
  await using receiver = await startReceiver();
  const { client, database } = fleet;
  const env = { DOCKET_WEBHOOK_ALLOWED_HOSTS: receiver.host };
  const old = await fleet.startWorker({ ...env, DOCKET_BUILD_ID: 'v1' });
  await fleet.startWorker({ ...env, DOCKET_BUILD_ID: 'v2' });
  await setCurrent(fleet, 'v1');
  receiver.answers.push(answerWith(503, { 'retry-after': '20' }));
  const project = await buildProject(database.pool);
  const webhooks = createWebhookStore(database.pool, createSecretBox([]));
  const fields = { url: receiver.url, description: null, eventTypes: [] };
  const created = await webhooks.create(operatorOf(project), project.id, fields);
  const { webhook } = created as Exclude<typeof created, string>;
  await webhooks.ping(operatorOf(project), webhook);
  await receiver.until(1);
  const [{ messageId }] = (await listDeliveries(database.pool, webhook.id)) as [DeliveryRow];
  const workflowId = deliverWebhookWorkflowId({ webhookId: webhook.id, messageId, round: 1 });
  const handle = client.workflow.getHandle(workflowId);
  const buildId = async () =>
    (await handle.describe()).raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
  await expect.poll(buildId).toBe('v1');

  await setCurrent(fleet, 'v2');
  old.child.kill('SIGTERM');
  expect(await old.closed).toBe(0);
  expect(await handle.result()).toEqual({ attempts: 2 });
  expect(await buildId()).toBe('v2');
});
