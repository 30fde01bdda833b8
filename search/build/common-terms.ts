import type { DatabaseSync } from 'node:sqlite';

/** Rarer terms are counted when a query needs them. */
const commonCount = 256;

/** Counts the common terms of a freshly built index. */
export function countCommonTerms(database: DatabaseSync): void {
  database
    .prepare(
      'insert into common_terms (term, count) select term, doc from temp.vocabulary where doc >= ? order by term',
    )
    .run(commonCount);
}

/** Updates the counts; `changes` has the difference of passages per term. */
export function updateCommonTerms(database: DatabaseSync, changes: ReadonlyMap<string, number>): void {
  const known = database.prepare('select count from common_terms where term = ?');
  const write = database.prepare(
    'insert into common_terms (term, count) values (?, ?) on conflict (term) do update set count = excluded.count',
  );
  const remove = database.prepare('delete from common_terms where term = ?');
  const count = database.prepare('select doc from temp.vocabulary where term = ?');
  for (const [term, difference] of [...changes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (difference === 0) continue;
    const before = known.get(term)?.count;
    const now = before === undefined ? Number(count.get(term)?.doc ?? 0) : Number(before) + difference;
    if (now >= commonCount) write.run(term, now);
    else if (before !== undefined) remove.run(term);
  }
}
