import type { WorkflowHandle } from '@temporalio/client';
import { expect, it } from 'vitest';
import { createPriceBook } from '../../../../models/prices.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import type { TestWorker } from '../../../support/stack/worker.ts';
import { ofFile } from '../../../support/of-file.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

const steps = 300;
const window = 40_000;

/** The histories of all runs of a turn, in order. */
async function historiesOf({ client }: TestWorker, workflowId: string, firstRunId: string) {
  const histories = [];
  for (let runId: string | null | undefined = firstRunId; runId;) {
    const handle: WorkflowHandle = client.workflow.getHandle(workflowId, runId);
    const [{ events }, { historySize }] = [await handle.fetchHistory(), await handle.describe()];
    histories.push({ events: events ?? [], bytes: historySize ?? 0 });
    runId = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
  }
  return histories;
}

/** The largest payload anywhere in a value. */
function largestPayload(value: unknown): number {
  if (value instanceof Uint8Array) return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Math.max(0, ...Object.values(value).map(largestPayload));
}

it(
  `a job of ${steps} steps fills its model’s window several times, and its history grows by references only`,
  { tags: 'slow', timeout: 580_000 },
  async () => {
    const files = Array.from({ length: 40 }, (_, index) => [`${index}.txt`, `${String(index).repeat(8)} `.repeat(300)]);
    let asked = 0;
    let rowsRead = 0;
    await using stack = await startJobStack({
      database,
      files: Object.fromEntries(files),
      change: (deps) => ({
        prices: createPriceBook({ 'compatible/scripted': { input: 1, output: 1, window } }),
        steps: {
          ...deps.steps,
          async listBetween(...range) {
            const rows = await deps.steps.listBetween(...range);
            rowsRead += rows.length;
            return rows;
          },
        },
        context: {
          ...deps.context,
          async read(...at) {
            const found = await deps.context.read(...at);
            rowsRead += found.steps.length;
            return found;
          },
        },
      }),
    });
    const { repository, model, worker } = stack;
    model.respondWith(({ body }) => {
      if (body.tools === undefined) return { text: `Notes after ${asked} steps.` };
      asked += 1;
      if (asked > steps) return { toolCalls: [{ name: 'finish', input: { title: 'Read all', summary: 'All read.' } }] };
      if (asked % 25 === 0)
        return { toolCalls: [{ name: 'write', input: { path: `note-${asked}.txt`, content: `${asked}\n` } }] };
      return { text: `Step ${asked}`, toolCalls: [{ name: 'read', input: { path: `${asked % 40}.txt` } }] };
    });
    const id = await worker.createJob({ prompt: 'Read everything', repository: repository.path });
    const limits = { maxSteps: 2 * steps, maxTokens: 1e9, maxDurationMs: 570_000 };
    const started = await worker.client.workflow.getHandle((await worker.startJob(id, limits)).workflowId).describe();
    const job = await worker.ended(id);
    expect(job).toMatchObject({ status: 'completed', steps: steps + 1, title: 'Read all' });
    expect(model.violations).toEqual([]);

    const { rows } = await database.pool.query('select tree from job_compactions where job_id = $1', [id]);
    expect(rows.length).toBeGreaterThan(3);
    const lengths = model.requests.map(({ body }) => JSON.stringify(body.messages).length);
    expect(Math.max(...lengths) / 3.5).toBeLessThan(window);
    // each step is read once when it is new, and the newest few again after each compaction
    expect(rowsRead).toBeLessThan(1.5 * steps);

    const histories = await historiesOf(worker, started.workflowId, started.runId);
    expect(histories.length).toBeGreaterThan(1);
    for (const { events } of histories) expect(events.length).toBeLessThan(1_700);
    expect(histories.reduce((sum, { bytes }) => sum + bytes, 0) / steps).toBeLessThan(3_072);
    expect(Math.max(...histories.map(({ events }) => largestPayload(events)))).toBeLessThan(64 * 1024);
  },
);
