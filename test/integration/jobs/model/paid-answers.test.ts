import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../../support/database/database.ts';
import { ofFile } from '../../../support/of-file.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';
import { writing } from '../../../support/writing-script.ts';

const database = ofFile(createTestDatabase);

/** Fails without effect: `times` calls, starting with the call `from`. */
function awayFor<Arguments extends unknown[], Result>(
  work: (...values: Arguments) => Promise<Result>,
  { from, times }: { from: number; times: number },
) {
  let calls = 0;
  return async (...values: Arguments): Promise<Result> => {
    calls += 1;
    if (calls < from || calls >= from + times) return work(...values);
    throw new Error('Connection terminated unexpectedly');
  };
}

describe('an answer that the model has returned', () => {
  it('survives a short database outage', async () => {
    await using stack = await startJobStack({
      database,
      change: ({ steps }) => ({
        steps: { ...steps, storeResponse: awayFor(steps.storeResponse, { from: 1, times: 3 }) },
      }),
    });
    const { repository, model, worker } = stack;
    model.script(...writing);
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    expect(job).toMatchObject({ status: 'completed', steps: 2, inputTokens: 200 });
    expect(model.requests).toHaveLength(2);
    expect(model.violations).toEqual([]);
  });

  it('is kept when another attempt has started meanwhile', async () => {
    await using stack = await startJobStack({
      database,
      change: ({ steps }) => ({
        steps: {
          ...steps,
          async storeResponse(answer) {
            await steps.claim(answer);
            return steps.storeResponse(answer);
          },
        },
      }),
    });
    const { repository, model, worker } = stack;
    model.script(...writing);
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    expect(job).toMatchObject({ status: 'completed', steps: 2 });
    expect(model.requests).toHaveLength(2);
  });
});
