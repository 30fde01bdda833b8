import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { describe, expect, inject, it } from 'vitest';
import { createJobStarter } from '../../../../api/jobs/job-starter.ts';
import { createOutboxSweeper } from '../../../../api/jobs/outbox-sweeper.ts';
import { createTemporalClient } from '../../../../api/temporal.ts';
import { newId } from '../../../../db/ids.ts';
import { createOutboxStore } from '../../../../db/jobs/outbox.ts';
import { jobWorkflowId, jobWorkflowName } from '../../../../workflows/contract/messages.ts';
import { openTemporalCredentials, readTemporalSettings } from '../../../../lib/temporal/temporal-credentials.ts';
import { buildJob, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { openLine } from '../../../support/servers/line.ts';

const limits = { maxSteps: 5, maxTokens: 1000, maxDurationMs: 60_000 };
const log = pino({ level: 'silent' });
const throwIt = (error: unknown) => {
  throw error;
};

describe('createJobStarter', () => {
  it('starts a turn once, by name, with its limits, however often it is called', async () => {
    await using cleanup = new AsyncDisposableStack();
    const settings = readTemporalSettings({ TEMPORAL_ADDRESS: inject('temporalAddress') });
    const credentials = cleanup.use(openTemporalCredentials(settings, { onFailure: throwIt }));
    const temporal = cleanup.use(createTemporalClient({ settings, credentials, encryptionKeys: [] }));
    const startJob = createJobStarter({ ...temporal, limits, taskQueue: `queue-${randomUUID()}` });
    const jobId = newId('job_');
    const entry = { jobId, turn: 1, organizationId: 'org_one' };
    await Promise.all([startJob(entry), startJob(entry), startJob({ ...entry, turn: 2 })]);

    const handle = temporal.client.workflow.getHandle(jobWorkflowId(jobId, 1));
    const first = await handle.describe();
    expect(first.type).toBe(jobWorkflowName);
    const { events } = await handle.fetchHistory();
    const started = events?.[0]?.workflowExecutionStartedEventAttributes;
    const input = JSON.parse(Buffer.from(started?.input?.payloads?.[0]?.data ?? []).toString());
    expect(input).toEqual({ jobId, turn: 1, limits });
    expect(started?.priority?.fairnessKey).toBe('org_one');
    expect(Number(started?.workflowRunTimeout?.seconds)).toBe(60 + 30 * 60);

    await handle.terminate();
    await startJob(entry); // it has ended: that counts as started, and no second run starts
    expect((await temporal.client.workflow.getHandle(jobWorkflowId(jobId, 1)).describe()).runId).toBe(first.runId);
    await temporal.client.workflow.getHandle(jobWorkflowId(jobId, 2)).terminate();
  });
});

describe('the outbox', () => {
  it('keeps a job while Temporal is down and starts it when it returns', async () => {
    await using database = await createTestDatabase();
    await using cleanup = new AsyncDisposableStack();
    const job = await buildJob(database.pool, await buildProject(database.pool));
    const outbox = createOutboxStore(database.pool);
    const isWaiting = async () =>
      (await database.pool.query('select 1 from job_outbox where job_id = $1', [job.id])).rowCount === 1;

    const line = cleanup.use(await openLine(new URL(`http://${inject('temporalAddress')}`), { isCut: true }));
    const settings = readTemporalSettings({ TEMPORAL_ADDRESS: `127.0.0.1:${line.port}` });
    const credentials = cleanup.use(openTemporalCredentials(settings, { onFailure: throwIt }));
    const temporal = cleanup.use(createTemporalClient({ settings, credentials, encryptionKeys: [] }));
    const attempts = { count: 0 };
    const startJob = createJobStarter({ ...temporal, limits, taskQueue: `queue-${randomUUID()}` });
    cleanup.use(
      createOutboxSweeper({
        outbox,
        log,
        intervalMs: 100,
        leaseMs: 200,
        startJob: async (entry) => {
          attempts.count += 1;
          await startJob(entry);
        },
      }),
    );
    await expect.poll(() => attempts.count).toBeGreaterThan(1);
    expect(await isWaiting()).toBe(true);

    line.mend();
    await expect.poll(isWaiting).toBe(false);
    const handle = temporal.client.workflow.getHandle(jobWorkflowId(job.id, 1));
    expect((await handle.describe()).status.name).toBe('RUNNING');
    await handle.terminate();
  });
});
