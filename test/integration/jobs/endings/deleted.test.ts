import { expect, it } from 'vitest';
import { refusalOfStore } from '../../../../api/http/store-refusals.ts';
import { createJobCanceller } from '../../../../api/jobs/job-canceller.ts';
import { createCancelStore } from '../../../../db/jobs/outbox.ts';
import { jobWorkflowId } from '../../../../workflows/contract/messages.ts';
import { buildKey } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { readSchema, rowsWith } from '../../../support/database/foreign-rows.ts';
import { serveApi } from '../../api/serve.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';

it(
  'a job that is deleted while active ends, and its worker stores nothing more of it',
  { tags: ['slow'] },
  async () => {
    await using database = await createTestDatabase();
    await using stack = await startJobStack({ database });
    const { repository, model, worker } = stack;
    await using api = await serveApi(database.pool);
    const released = Promise.withResolvers<void>();
    model.respondWith(async () => {
      await released.promise;
      return { toolCalls: [{ name: 'write', input: { path: 'new.txt', content: 'new\n' } }] };
    });
    const id = await worker.createJob({ prompt: 'Write', repository: repository.path });
    await worker.startJob(id);
    await model.nextRequest();
    const { projectId, organizationId } = (await worker.deps.jobs.get(id))!;
    const { key } = await buildKey(database.pool, { organizationId });
    const path = `/v2/agent/${projectId}/job/${id}`;

    expect((await api.ask(path, { key, method: 'DELETE' })).status).toBe(204);
    expect((await api.ask(path, { key })).status).toBe(404);
    expect((await api.ask(path, { key, method: 'DELETE' })).status).toBe(404);
    const cancels = createCancelStore(database.pool);
    for (const entry of await cancels.claimDue({ limit: 10, leaseMs: 1 })) {
      await createJobCanceller({ client: worker.client })(entry);
      await cancels.remove(entry);
    }
    released.resolve();
    await worker.ended(id);
    expect((await worker.client.workflow.getHandle(jobWorkflowId(id, 1)).describe()).status.name).not.toBe('RUNNING');
    const left = await rowsWith(database.pool, await readSchema(database.pool), id);
    expect(Object.keys(left)).toEqual(['audit_entries']);

    expect((await api.ask(`/v1/projects/${projectId}`, { key, method: 'DELETE' })).status).toBe(204);
    expect((await api.ask(`/v1/projects/${projectId}`, { key })).status).toBe(404);

    // writes for something that is deleted at the same moment
    const orphan = database.pool.query('insert into job_turns (job_id, turn, prompt) values ($1, 2, $2)', [
      id,
      'Write',
    ]);
    expect(refusalOfStore(await orphan.catch((error: unknown) => error))).toMatchObject({ status: 404 });
  },
);
