import type { Pool } from 'pg';

interface Column {
  table: string;
  name: string;
  type: string;
  isNullable: boolean;
}

interface Reference {
  child: string;
  parent: string;
  columns: string[];
  parentColumns: string[];
  onDelete: 'a' | 'r' | 'c' | 'n' | 'd';
}

export interface Schema {
  tables: string[];
  columns: Column[];
  references: Reference[];
  /** Returns the tables whose rows belong to those of a table, directly or indirectly, including the table itself. */
  below(table: string): Set<string>;
}

/** Reads the tables of the database from its catalog. */
export async function readSchema(pool: Pool): Promise<Schema> {
  const tables = await pool.query<{ name: string }>(
    `select relname as name from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace and relname !~ 'migration' order by relname`,
  );
  const columns = await pool.query<Column>(
    `select relname as table, attname as name, format_type(atttypid, null) as type, not attnotnull as "isNullable"
     from pg_attribute join pg_class on pg_class.oid = attrelid
     where relkind = 'r' and relnamespace = 'public'::regnamespace and attnum > 0 and not attisdropped
       and attidentity = '' and attgenerated = ''
     order by relname, attnum`,
  );
  const references = await pool.query<Reference>(
    `select conrelid::regclass::text as child, confrelid::regclass::text as parent, confdeltype::text as "onDelete",
            (select array_agg(attname::text order by place) from unnest(conkey) with ordinality as key (number, place)
             join pg_attribute on attrelid = conrelid and attnum = number) as columns,
            (select array_agg(attname::text order by place) from unnest(confkey) with ordinality as key (number, place)
             join pg_attribute on attrelid = confrelid and attnum = number) as "parentColumns"
     from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`,
  );
  return {
    tables: tables.rows.map(({ name }) => name),
    columns: columns.rows,
    references: references.rows,
    below(table) {
      const found = new Set([table]);
      for (const parent of found)
        for (const { child, onDelete } of references.rows.filter((reference) => reference.parent === parent))
          if (onDelete === 'c') found.add(child);
      return found;
    },
  };
}

/** Returns values that satisfy the schema's checks, and values that connect rows without a foreign key. */
function meantFor(word: string): Record<string, unknown> {
  return {
    'projects.forge': 'local',
    'api_keys.kind': 'admin',
    'api_keys.role': 'member',
    'sessions.role': 'member',
    'sign_in_links.role': 'member',
    'api_keys.captcha': 'turnstile',
    'jobs.status': 'active',
    'jobs.phase': 'running',
    'jobs.pr_state': 'open',
    'jobs.pr_id': `${word} pull_requests.id`,
    'jobs.forked_from': null,
    'job_turns.status': 'active',
    'job_history_exports.state': 'waiting',
    'pull_requests.state': 'open',
    'sites.directory': null,
    'threads.outcome': 'open',
    'evaluations.state': 'completed',
    'sites.reader_algorithm': 'HS256',
    'sites.unsupported': 'cut',
    'sites.sources': JSON.stringify([{ prefix: word }]),
    'sites.guard_set_id': `${word} question_sets.id`,
    'thread_messages.role': 'user',
    'thread_messages.ending': 'finished',
    'replies.protocol': 'v2',
    'webhook_deliveries.status': 'pending',
    'webhook_endpoints.format': 'standard',
    'message_feedback.vote': 'up',
    'gaps.state': 'working',
    'rate_limits.key': `job:${word} organizations.id`,
    'job_cancels.job_id': `${word} jobs.id`,
    'audit_entries.organization_id': `${word} organizations.id`,
    'operation_facts.organization_id': `${word} organizations.id`,
    'operation_facts.kind': 'created',
    'organization_growth.organization_id': `${word} organizations.id`,
  };
}

/** Tables whose rows belong to no organization; they get none. */
export const ofNobody = ['workers', 'job_totals', 'operation_start', 'chores'];

/** Inserts a row of one organization into every table, with the word in each text. Returns the organization's id. */
export async function insertForeignRows(pool: Pool, schema: Schema, word: string): Promise<string> {
  const meant = meantFor(word);
  const known = new Map<string, unknown>();
  const client = await pool.connect();
  try {
    // triggers would add further rows
    await client.query(`set session_replication_role = replica`);
    for (const table of inOrder(schema)) {
      const own = schema.columns.filter((column) => column.table === table);
      for (const { name, type } of own) {
        const place = `${table}.${name}`;
        const reference = schema.references.find(({ child, columns }) => child === table && columns.includes(name));
        const value =
          place in meant
            ? meant[place]
            : reference === undefined
              ? valueOf(type, `${word} ${place}`)
              : known.get(`${reference.parent}.${reference.parentColumns[reference.columns.indexOf(name)]}`);
        known.set(place, value);
      }
      await client.query(
        `insert into ${table} (${own.map(({ name }) => name).join(', ')}) values (${own.map((_, at) => `$${at + 1}`).join(', ')})`,
        own.map(({ name }) => known.get(`${table}.${name}`)),
      );
    }
  } finally {
    client.release(true);
  }
  return `${word} organizations.id`;
}

/** Returns the tables, parents before children. A row may refer to one of its own that is inserted later. */
function inOrder({ tables, references, below }: Schema): string[] {
  const done: string[] = [];
  const wanted = tables.filter((table) => !ofNobody.includes(table));
  while (done.length < wanted.length) {
    const next = wanted.find(
      (table) =>
        !done.includes(table) &&
        references.every(({ child, parent }) => child !== table || done.includes(parent) || below(table).has(parent)),
    );
    if (next === undefined) throw new Error('The references of the tables go in a circle.');
    done.push(next);
  }
  return done;
}

function valueOf(type: string, text: string): unknown {
  if (type === 'text[]') return [text];
  if (type === 'json' || type === 'jsonb') return JSON.stringify({ text });
  if (type === 'bytea') return Buffer.from(text);
  if (type === 'boolean') return true;
  if (type === 'date') return '2026-11-22';
  if (type.startsWith('timestamp')) return new Date();
  if (['integer', 'bigint', 'smallint', 'real', 'double precision'].includes(type)) return 1;
  if (type === 'text') return text;
  throw new Error(`There is no value for the type ${type} yet.`);
}

/** Returns the rows that contain a word in any column, including bytes, by table. */
export async function rowsWith(pool: Pool, { tables }: Schema, word: string): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const table of tables) {
    const { rows } = await pool.query<{ row: string }>(
      `select row from (select to_jsonb(entry)::text as row from ${table} as entry) as rows
       where position($1 in row) > 0 or position($2 in row) > 0 order by row`,
      [word, Buffer.from(word).toString('hex')],
    );
    if (rows.length > 0) found[table] = rows.map(({ row }) => row);
  }
  return found;
}
