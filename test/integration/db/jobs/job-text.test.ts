import { Pool } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createModelCallLeases } from '../../../../db/for-worker/model-call-leases.ts';
import { createWorkerEventStore } from '../../../../db/for-worker/job-events.ts';
import { createStepStore } from '../../../../db/for-worker/steps.ts';
import { claimAnswer } from '../../../support/database/claim-answer.ts';
import { buildLoneJob, eventsOf } from '../../../support/database/job-events.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { recordStatements } from '../../../support/database/record-statements.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);

describe('the text of a step', () => {
  it('is accepted from its newest attempt only, until the step is answered', async () => {
    const { id } = await buildLoneJob(database.pool);
    const [steps, events] = [createStepStore(database.pool), createWorkerEventStore(database.pool)];
    const step = { jobId: id, turn: 1, step: 1 };
    const first = await claimAnswer(database.pool, step);
    const piece = { ...step, offset: 0, text: 'one', isRepeated: false };
    expect(await events.appendText({ ...piece, fence: first.fence })).toBe(true);
    const second = await claimAnswer(database.pool, step);
    expect(await events.appendText({ ...piece, fence: first.fence })).toBe(false);
    expect(await events.appendText({ ...piece, fence: second.fence, text: 'two' })).toBe(true);
    const answer = { content: [], text: 'two', toolCalls: [] };
    const usage = { inputTokens: 1, outputTokens: 1 };
    const rest = {
      model: 'offline/editor',
      requestHash: 'h',
      response: answer,
      finishReason: 'stop',
      usage,
      costMicros: null,
    };
    expect(await steps.storeResponse({ ...step, ...rest })).not.toBeNull();
    expect(await events.appendText({ ...piece, fence: second.fence })).toBe(false);
    // the stored answer is used: no attempt starts
    await claimAnswer(database.pool, step);
    expect((await eventsOf(database.pool, id)).slice(1).map(({ type, data }) => [type, data])).toEqual([
      ['step-start', { attempt: 1 }],
      ['text', { attempt: 1, offset: 0, text: 'one' }],
      ['step-start', { attempt: 2 }],
      ['text', { attempt: 2, offset: 0, text: 'two' }],
    ]);
  });

  it('is appended once, even if an earlier append may have succeeded', async () => {
    const { id } = await buildLoneJob(database.pool);
    const events = createWorkerEventStore(database.pool);
    const step = { jobId: id, turn: 1, step: 1 };
    const { fence } = await claimAnswer(database.pool, step);
    const piece = { ...step, fence, offset: 0, text: 'one' };
    for (const isRepeated of [false, true, true]) expect(await events.appendText({ ...piece, isRepeated })).toBe(true);
    expect(await events.appendText({ ...piece, offset: 3, isRepeated: true })).toBe(true);
    expect((await eventsOf(database.pool, id)).filter(({ type }) => type === 'text')).toHaveLength(2);
  });

  /** The chunk of the only step of each of some new jobs. */
  const chunksOfNewJobs = (count: number) =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const step = { jobId: (await buildLoneJob(database.pool)).id, turn: 1, step: 1 };
        const { fence } = await claimAnswer(database.pool, step);
        return { ...step, fence, offset: 0, text: 'one', isRepeated: false };
      }),
    );

  it('is appended in one statement with that of all jobs of the process, beside renewals', async () => {
    // without the retries of deadlocks
    const pool = new Pool({ connectionString: database.url, max: 4 });
    onTestFinished(() => pool.end());
    const statements = recordStatements(pool);
    const [events, leases] = [createWorkerEventStore(pool), createModelCallLeases(pool)];
    const chunks = await chunksOfNewJobs(20);
    const appendAll = (offset: number) =>
      Promise.all(
        chunks.map((chunk, at) => events.appendText({ ...chunk, offset, fence: at === 3 ? 9 : chunk.fence })),
      );
    expect(await appendAll(0)).toEqual(chunks.map((_, at) => at !== 3));
    // the refused chunk could have been locked
    expect(statements.take().filter((name) => name.startsWith('append-'))).toEqual(['append-texts', 'append-text']);
    expect((await eventsOf(database.pool, chunks[4]!.jobId)).at(-1)).toMatchObject({
      data: { attempt: 1, offset: 0, text: 'one' },
    });

    const renewals = Array.from({ length: 2 }, async (_, renewal) => {
      const held = renewal === 0 ? chunks : chunks.toReversed();
      for (let round = 0; round < 100; round += 1) await leases.renew(held);
    });
    for (let round = 1; round <= 100; round += 1) await appendAll(round);
    await Promise.all(renewals);
  });

  it.each(['job_steps', 'job_event_logs'])(
    'waits for a row of %s that is locked, while that of other jobs, and renewals, do not',
    async (table) => {
      const events = createWorkerEventStore(database.pool);
      const [locked, free] = await chunksOfNewJobs(2);
      await using holder = await lockedIn(table, locked!.jobId);
      const waiting = events.appendText(locked!);
      expect(await events.appendText(free!)).toBe(true);
      await createModelCallLeases(database.pool).renew([locked!, free!]);
      expect((await eventsOf(database.pool, locked!.jobId)).some(({ type }) => type === 'text')).toBe(false);
      await holder.release();
      expect(await waiting).toBe(true);
    },
  );
});

/** Locks the rows of a job in a transaction of its own. */
async function lockedIn(table: string, jobId: string) {
  const client = await database.pool.connect();
  await client.query('begin');
  await client.query(`select from ${table} where job_id = $1 for update`, [jobId]);
  let isHeld = true;
  const release = async () => {
    if (isHeld) await client.query('rollback');
    if (isHeld) client.release();
    isHeld = false;
  };
  return { release, [Symbol.asyncDispose]: release };
}
