interface DueRows {
  table: string;
  /** Column of the holder whose rows take turns. */
  holder: string;
  /** Expression of the time from which a row is due. */
  due: string;
  now?: string;
  where: string;
}

/**
 * Returns CTEs of a `with recursive` that lock up to `$1` due rows and end with their ids, `due`. Holders take turns: however
 * much is due for one, the others get their share. An index of (holder, due) of the rows is needed; it is read once per holder.
 */
export function dueByTurns({ table, holder, due, now = 'now()', where }: DueRows): string {
  const first = (more: string) =>
    `select ${holder} as holder, ${due} as due from ${table} where ${where} ${more} order by ${holder}, ${due} limit 1`;
  return `
    firsts as (
      (${first('')})
      union all
      select next.* from firsts cross join lateral (${first(`and ${holder} > firsts.holder`)}) as next
    ), holders as (
      -- by lot: by age, those with the most to do would always come first
      select holder from firsts where due <= ${now} order by random() limit $1
    ), chosen as (
      select id, place from holders cross join lateral (
        select id, row_number() over (order by ${due}) as place from ${table}
        where ${where} and ${holder} = holders.holder and ${due} <= ${now} order by ${due} limit 2 * $1
      ) as own
      -- another process may be claiming half of them
      order by place limit 2 * $1
    ), due as materialized (
      select id from chosen join ${table} using (id) where ${where} and ${due} <= ${now}
      order by place limit $1 for update of ${table} skip locked
    )`;
}
