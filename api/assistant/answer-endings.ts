import { Counter } from 'prom-client';

const endings = ['finished', 'failed', 'aborted'] as const;

/** How an answer ended; `aborted`: its reader stopped it or left. */
export type AnswerEnding = (typeof endings)[number];

/** Creates the counter of answers. The status of a streamed response is sent before its ending is known. */
export function createAnswerEndings(): Counter<'ending'> {
  const counter = new Counter({
    name: 'docket_answers_total',
    help: 'Answers of the assistant by how they ended.',
    labelNames: ['ending'],
    registers: [],
  });
  // without it, the first failure would be no increase
  for (const ending of endings) counter.inc({ ending }, 0);
  return counter;
}
