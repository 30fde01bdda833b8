import type { Pool } from 'pg';
import { expect, it } from 'vitest';
import { createAuditStore } from '../../../db/organizations/audit.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { createOwner, insertForeignRows, receiver, type Owner } from '../api/access/owner.ts';
import { serveApi } from '../api/serve.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool, { DOCKET_WEBHOOK_ALLOWED_HOSTS: new URL(receiver).host }));

const kinds = ['projects', 'keys', 'job', 'pull-requests', 'webhooks', 'question-sets', 'evaluations', 'gaps'];

/** Writes an entry about each of some ids, by a key of the organization, and returns the newest entries of its log. */
async function entriesAbout({ organizationId, keys, ids }: Owner, subjects: (string | undefined)[]) {
  await database.pool.query(
    `insert into audit_entries (id, organization_id, key_id, action, subject)
     select 'aud_' || md5($1 || subject), $1, $3, 'x.change', subject from unnest($2::text[]) as subject`,
    [organizationId, subjects, ids['keys']],
  );
  const { body } = await api.ask(`/v1/audit?limit=${subjects.length}`, { key: keys.admin });
  const entries: { subject: string; subjectName: string; actor: { keyName: string | null } }[] = body.entries;
  return entries;
}

it('names what its entries are about, and only what belongs to the organization', async () => {
  const [ours, theirs] = [await createOwner(database.pool, api), await createOwner(database.pool, api)];
  await insertForeignRows(database.pool, ours);
  await database.pool.query(`update api_keys set name = 'Website' where organization_id = $1`, [ours.organizationId]);
  const named = await entriesAbout(
    ours,
    [...kinds, 'sites'].map((kind) => ours.ids[kind]),
  );
  const names = new Map(named.map(({ subject, subjectName }) => [subject, subjectName]));
  expect(Object.fromEntries([...kinds, 'sites'].map((kind) => [kind, names.get(ours.ids[kind]!)]))).toEqual({
    projects: expect.stringMatching(/./),
    keys: 'Website',
    job: expect.stringMatching(/./),
    'pull-requests': 'Change',
    webhooks: receiver,
    'question-sets': 'Known',
    evaluations: 'Known',
    gaps: 'x',
    // its id is its name
    sites: null,
  });
  expect(new Set(named.map(({ actor }) => actor.keyName))).toEqual(new Set(['Website']));

  const foreign = await entriesAbout(
    { ...theirs, ids: ours.ids },
    kinds.map((kind) => ours.ids[kind]),
  );
  expect(foreign.map(({ subjectName, actor }) => [subjectName, actor.keyName])).toEqual(kinds.map(() => [null, null]));
});

it('reads a page of the log with its names in two queries', async () => {
  const { organizationId } = await createOwner(database.pool, api);
  let queries = 0;
  const pool = {
    query: (...args: Parameters<Pool['query']>) => {
      queries += 1;
      return database.pool.query(...args);
    },
  } as Pool;
  const { entries } = await createAuditStore(pool).list({ organizationId }, { limit: 50 });
  expect([entries.length > 5, queries]).toEqual([true, 2]);
});

it('has filters that read a bounded part of the log for each page', async () => {
  const [ours, theirs] = [await createOwner(database.pool, api), await createOwner(database.pool, api)];
  const { organizationId, ids, keys } = ours;
  await database.pool.query('delete from audit_entries where organization_id = $1', [organizationId]);
  await database.pool.query(
    `insert into audit_entries (id, organization_id, key_id, person, action, subject, created_at)
     select 'aud_new' || n, $1, $2, null, 'site.change', 'docs', now() - n * interval '1 second'
     from generate_series(1, 2100) as n
     union all
     select 'aud_old' || name, $1, key, person, action, subject, now() - interval '1 day'
     from (values ('1', $2, 'Anna', 'job.cancel', 'job_1'), ('2', $2, null, 'job.create', 'job_2'),
                  ('3', 'key_x', 'Anna', 'jobs.x', 'job_1')) as old (name, key, person, action, subject)`,
    [organizationId, ids['keys']],
  );
  const page = async (query: string, key = keys.admin) => (await api.ask(`/v1/audit?${query}`, { key })).body;
  const found = async (query: string) => {
    const first = await page(query);
    const rest = await page(`${query}&cursor=${first.nextCursor}`);
    expect(rest.nextCursor).toBeNull();
    const actions = rest.entries.map(({ action }: { action: string }) => action);
    return [first.entries.length, ...actions.toSorted()];
  };
  expect(await found('action=job')).toEqual([0, 'job.cancel', 'job.create']);
  expect(await found('action=job.cancel')).toEqual([0, 'job.cancel']);
  expect(await found('subject=job_1')).toEqual([0, 'job.cancel', 'jobs.x']);
  expect(await found('person=Anna')).toEqual([0, 'job.cancel', 'jobs.x']);
  expect(await found('keyId=key_x')).toEqual([0, 'jobs.x']);
  expect((await page('action=site&limit=50')).entries).toHaveLength(50);
  expect(await page('person=Anna', theirs.keys.admin)).toEqual({ entries: [], nextCursor: null });
});
