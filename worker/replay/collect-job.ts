import type { BundleRecord, BundleRecordOf } from '../../db/jobs/bundle-schema.ts';

/** The records of a job, in the order they were read. */
export interface CollectedJob {
  job: BundleRecordOf<'job'>;
  turns: BundleRecordOf<'turn'>[];
  messages: BundleRecordOf<'message'>[];
  notes: BundleRecordOf<'note'>[];
  compactions: BundleRecordOf<'compaction'>[];
  tools: BundleRecordOf<'tools'>[];
  effects: BundleRecordOf<'effect'>[];
  events: BundleRecordOf<'event'>[];
  exports: BundleRecordOf<'export'>[];
  histories: BundleRecordOf<'history'>[];
  steps: BundleRecordOf<'step'>[];
}

/** Collects the records of a job except its snapshots; null when there are no records. */
export async function collectJob(records: AsyncIterable<BundleRecord>): Promise<CollectedJob | null> {
  let collected: CollectedJob | null = null;
  for await (const record of records) {
    if (collected !== null) note(collected, record);
    else if (record.piece === 'job') collected = emptyOf(record);
  }
  return collected;
}

function emptyOf(job: BundleRecordOf<'job'>): CollectedJob {
  return {
    job,
    turns: [],
    messages: [],
    notes: [],
    compactions: [],
    tools: [],
    effects: [],
    events: [],
    exports: [],
    histories: [],
    steps: [],
  };
}

function note(job: CollectedJob, record: BundleRecord): void {
  switch (record.piece) {
    case 'job':
      return;
    case 'turn':
      return void job.turns.push(record);
    case 'message':
      return void job.messages.push(record);
    case 'note':
      return void job.notes.push(record);
    case 'compaction':
      return void job.compactions.push(record);
    case 'tools':
      return void job.tools.push(record);
    case 'effect':
      return void job.effects.push(record);
    case 'event':
      return void job.events.push(record);
    case 'export':
      return void job.exports.push(record);
    case 'history':
      return void job.histories.push(record);
    case 'step':
      return void job.steps.push(record);
    case 'image':
    case 'snapshot':
    case 'pack':
      return;
    default:
      record satisfies never;
  }
}
