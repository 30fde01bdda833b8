import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { bundleRecordSchema, type BundleRecord } from '../../db/jobs/bundle-schema.ts';
import { collectJob } from './collect-job.ts';
import { exactQuestionOf, type ExactQuestion } from './exact-question.ts';

// entry point of the thread that rebuilds the request of a step to its model from the records of the job

const task = z
  .object({
    records: z.array(z.string()),
    turn: z.number(),
    step: z.number(),
    maxMessages: z.number(),
    maxCharacters: z.number(),
  })
  .parse(workerData);

async function* records(): AsyncGenerator<BundleRecord> {
  for (const record of task.records) yield bundleRecordSchema.parse(JSON.parse(record));
}

/** Returns the newest messages within the limits, and how many there are before them. */
function newestOf(messages: ExactQuestion['messages']) {
  let from = messages.length;
  let characters = 0;
  while (from > 0 && messages.length - from < task.maxMessages) {
    characters += JSON.stringify(messages[from - 1]).length;
    if (characters > task.maxCharacters) break;
    from -= 1;
  }
  return { omittedMessages: from, messages: messages.slice(from) };
}

const job = await collectJob(records());
const question = job === null ? null : exactQuestionOf(job, task);
parentPort?.postMessage(question === null ? null : JSON.stringify({ ...question, ...newestOf(question.messages) }));
