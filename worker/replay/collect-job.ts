import type { BundleRecord, BundleRecordOf } from '../../db/jobs/bundle-schema.ts';

/** The records of a job, in the order they were read. */
export type CollectedJob = NonNullable<Awaited<ReturnType<typeof collectJob>>>;

/** Contents, which are large and which no report of a job needs. */
const contents = new Set<BundleRecord['piece']>(['image', 'snapshot', 'pack']);

/** Collects the records of a job except its contents; null when there are no records. */
export async function collectJob(records: AsyncIterable<BundleRecord>) {
  const kept: BundleRecord[] = [];
  for await (const record of records) if (!contents.has(record.piece)) kept.push(record);
  const all = <Name extends BundleRecord['piece']>(piece: Name) =>
    kept.filter((record): record is BundleRecordOf<Name> => record.piece === piece);
  const [job] = all('job');
  if (job === undefined) return null;
  return {
    job,
    turns: all('turn'),
    messages: all('message'),
    notes: all('note'),
    compactions: all('compaction'),
    tools: all('tools'),
    effects: all('effect'),
    events: all('event'),
    exports: all('export'),
    histories: all('history'),
    steps: all('step'),
  };
}
