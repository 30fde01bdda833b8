import type { Pool } from 'pg';
import { withTransaction } from '../pool.ts';

export interface MovedFolder {
  from: string;
  to: string;
}

/** Columns that hold paths of this machine. Values that are URLs are not changed. */
const columns = [
  ['projects', 'repository'],
  ['sites', 'repository'],
  ['sites', 'directory'],
  ['jobs', 'repository'],
  ['pull_requests', 'repository'],
  ['grants', 'resource'],
] as const;

/** Updates stored paths after folders were moved. Of nested folders, the innermost applies. */
export async function moveFolders(pool: Pool, moved: readonly MovedFolder[]): Promise<void> {
  const folders = moved.toSorted((a, b) => b.from.length - a.from.length);
  const values = folders.flatMap(({ from, to }) => [from, to]);
  const isBelow = (path: string) => folders.map((_, at) => `starts_with(${path}, $${2 * at + 1}::text || '/')`);
  const newPath = (path: string) => {
    const cases = isBelow(path).map(
      (condition, at) =>
        `when ${condition} then $${2 * at + 2}::text || substr(${path}, length($${2 * at + 1}::text) + 1)`,
    );
    return `case ${cases.join(' ')} else ${path} end`;
  };
  if (folders.length === 0) return;
  await withTransaction(pool, async (client) => {
    for (const [table, column] of columns) {
      // a grant for the new path may exist already
      const others =
        table === 'grants'
          ? `and not exists (select from grants as others where others.organization_id = grants.organization_id and others.resource = ${newPath('grants.resource')})`
          : '';
      const statement = `update ${table} set ${column} = ${newPath(column)} where (${isBelow(column).join(' or ')}) ${others}`;
      await client.query(statement, values);
    }
    await client.query(
      `update projects set allowed_repositories = (
         select array_agg(${newPath('place')} order by position) from unnest(allowed_repositories) with ordinality as all_of (place, position)
       )
       where exists (select from unnest(allowed_repositories) as place where ${isBelow('place').join(' or ')})`,
      values,
    );
  });
}
