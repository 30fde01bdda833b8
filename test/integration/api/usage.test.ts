import { beforeEach, expect, it } from 'vitest';
import { usageSchema, type PublicUsage } from '../../../api/administration/usage-schemas.ts';
import { createKeyUses } from '../../../api/access/key-uses.ts';
import { createUsageStore } from '../../../db/organizations/usage.ts';
import { buildKey, buildProject } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { untilEarlyIn } from '../../support/early-in.ts';
import { buildIndexedSite } from '../assistant/site.ts';
import { serveApi } from './serve.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
beforeEach(() => untilEarlyIn('hour'));

it('counts what each key requested and what a limit refused, next to the limit', async () => {
  await using api = await serveApi(database.pool, { DOCKET_ASSISTANT_PER_HOUR: '3' }, { indexPollMs: 50 });
  const docs = await buildIndexedSite(database.pool);
  const other = await buildKey(database.pool, { organizationId: docs.organizationId, kind: 'assistant' });
  const search = async (key: string) =>
    (await api.ask(`/discovery/v1/search/${docs.site.domain}`, { key, json: { query: 'retry' } })).status;
  const statuses: number[] = [];
  for (const key of [docs.assistantKey, docs.assistantKey, other.key, docs.assistantKey, other.key])
    statuses.push(await search(key));
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
  await api.keyUses.flush();
  await api.keyUses.flush();

  const { status, body } = await api.ask('/v1/usage?days=2', { key: docs.adminKey });
  expect(status).toBe(200);
  const { assistant } = usageSchema.strict().parse(body);
  expect(assistant.limitPerHour).toBe(3);
  expect(assistant.organization).toHaveLength(2);
  const totalOf = (days: PublicUsage['assistant']['organization']) =>
    days.map(({ requests, refused }) => [requests, refused]).reduce(([a = 0, b = 0], [c = 0, d = 0]) => [a + c, b + d]);
  expect(totalOf(assistant.organization)).toEqual([5, 2]);
  expect(assistant.keys.map(({ days }) => totalOf(days))).toEqual([
    [3, 1],
    [2, 1],
  ]);
  for (const days of ['0', '91', 'x', '1.5'])
    expect((await api.ask(`/v1/usage?days=${days}`, { key: docs.adminKey })).status).toBe(400);
  expect((await api.ask('/v1/usage', { key: docs.assistantKey })).status).toBe(403);
  const stranger = await buildKey(database.pool, await buildProject(database.pool));
  const told = usageSchema.parse((await api.ask('/v1/usage', { key: stranger.key })).body);
  expect([told.assistant.keys, totalOf(told.assistant.organization)]).toEqual([[], [0, 0]]);
});

it('reports what each project spent per day, next to its own budget or the operator’s', async () => {
  await using api = await serveApi(database.pool, { DOCKET_MAX_PROJECT_DOLLARS_PER_DAY: '2.50' });
  const project = await buildProject(database.pool);
  const own = await buildProject(database.pool, { organizationId: project.organizationId });
  await database.pool.query('update projects set daily_budget_micros = 1500000 where id = $1', [own.id]);
  await database.pool.query(
    `insert into project_spending (project_id, day, cost_micros)
     select $1, (now() at time zone 'utc')::date - number, 1000000 * (number + 1) from generate_series(0, 40) as number`,
    [project.id],
  );
  const { key } = await buildKey(database.pool, project);
  const { projects } = usageSchema.parse((await api.ask('/v1/usage?days=3', { key })).body);
  expect(projects.map(({ id, budgetUsd }) => [id, budgetUsd])).toEqual([
    [project.id, 2.5],
    [own.id, 1.5],
  ]);
  expect(projects[0]?.days.map(({ costUsd }) => costUsd)).toEqual([3, 2, 1]);
  expect(projects[1]?.days.map(({ costUsd }) => costUsd)).toEqual([0, 0, 0]);
});

it('finds the busiest hour of a day across all processes, and deletes what can no longer be queried', async () => {
  const usage = createUsageStore(database.pool);
  const { organizationId } = await buildProject(database.pool);
  const { row } = await buildKey(database.pool, { organizationId, kind: 'assistant' });
  await database.pool.query(
    `insert into key_uses (key_id, hour, requests, refused)
     select $1, date_trunc('day', now(), 'utc') - interval '1 day' + number * interval '1 hour', 10 * number, number
     from generate_series(0, 5) as number
     union all select $1, date_trunc('hour', now()) - interval '95 days', 1, 0`,
    [row.id],
  );
  await Promise.all([1, 2].map(() => usage.count([{ keyId: row.id, requests: 4, refused: 1 }])));
  await usage.count([{ keyId: 'key_of_nobody', requests: 1, refused: 0 }]);
  const { keys } = await usage.read({ organizationId }, { days: 2 });
  expect(keys[0]?.days).toMatchObject([
    { requests: 150, refused: 15, busiestHour: 45 },
    { requests: 8, refused: 2, busiestHour: 6 },
  ]);
  await usage.sweep();
  const left = await database.pool.query('select count(*)::integer as count from key_uses where key_id = $1', [row.id]);
  expect(left.rows[0].count).toBe(7);
});

it('keeps counts for the next attempt when they cannot be stored', async () => {
  const written: unknown[] = [];
  let isDown = true;
  const uses = createKeyUses({
    usage: {
      count: async (counted) => {
        if (isDown) throw new Error('down');
        written.push(counted);
      },
    },
  });
  uses.note('k', false);
  await expect(uses.flush()).rejects.toThrow('down');
  uses.note('k', true);
  isDown = false;
  await uses.flush();
  expect(written).toEqual([[{ keyId: 'k', requests: 2, refused: 1 }]]);
});
