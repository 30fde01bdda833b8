import { beforeAll, expect, it } from 'vitest';
import { readDescription, type Operation } from '../../suites/fuzz/description.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { bodyOf, pathOf } from './access/described-requests.ts';
import { createOwner, receiver, type Owner } from './access/owner.ts';
import { serveApi } from './serve.ts';
import { ofFile } from '../../support/of-file.ts';

// Generated from the API description: each operation that changes something is called with the audit log broken, which changes
// nothing, and with it working, which writes one entry. An operation without an entry belongs in the list, with its reason.

/** Operations that change nothing for others. */
const unaudited: Record<string, string> = {
  searchDocumentation: 'reads',
  suggestPages: 'reads',
  createChallenge: 'changes nothing',
  switchOrganization: 'chooses among the sessions that the browser has already opened',
  getDocumentationPage: 'reads',
  createAssistantMessageV1: 'a reader asks; the conversation is the record',
  createAssistantMessageV2: 'a reader asks; the conversation is the record',
  stopAssistantMessageV1: 'a reader stops the answer whose token they hold; the conversation has what was written',
  stopAssistantMessageV2: 'a reader stops the answer whose token they hold; the conversation has what was written',
  checkPullRequest: 'a worker looks for conflicts; nothing changes for others',
  callMcp: 'a reader asks and rates, as above and below',
  rateAnswer: 'a reader rates an answer; the conversation has the vote',
  rateAnswerV1: 'a reader rates an answer; the conversation has the vote',
};

/** Tables that count requests, whether they succeed or not. */
const counters = ['rate_limits', 'key_uses', 'schema_migrations'];

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool, { DOCKET_WEBHOOK_ALLOWED_HOSTS: new URL(receiver).host }));
let operations: Operation[];
let digests: string;
beforeAll(async () => {
  digests = await statementOfDigests();
  operations = (await readDescription(api.url)).operations.filter(({ method }) => method !== 'GET');
});

const waiting = `update jobs set status = 'active', phase = 'waiting', plan_review = true, approved_turn = null, question = null,
  failure_category = null, ended_at = null where id = $1 and $2 <> ''`;
const active = `update jobs set status = 'active', ended_at = null where id = $1 and $2 <> ''`;

/** Operations that run last, parts before the resources that contain them. */
const deletions = [
  'approveAgentJob',
  'rejectAgentJob',
  'deleteWebhook',
  'deleteProjectSecret',
  'deleteThread',
  'deleteQuestionSet',
  'deleteAgentJob',
  'deleteSite',
  'deleteProject',
];

/** Preconditions of an operation; `$1` is the job, `$2` the pull request. */
const before: Record<string, string> = {
  cancelAgentJob: active,
  stopEvaluation: `
    with gone as (delete from evaluations where state = 'running' and $1 <> '' and $2 <> '' returning id, site_id)
    update evaluations set state = 'running' from gone where evaluations.site_id = gone.site_id and evaluations.id <> gone.id`,
  approveAgentJob: waiting,
  rejectAgentJob: waiting,
  sendAgentJobMessage: active,
  forkAgentJob: `update job_steps set response = '{"toolCalls": [{}]}', tool_results = '[]', ended_at = now() where job_id = $1 and $2 <> ''`,
  archiveAgentJob: `update jobs set status = 'completed', ended_at = now() where id = $1 and $2 <> ''`,
  unarchiveAgentJob: `update jobs set status = 'archived', archived_at = now(), ended_at = now() where id = $1 and $2 <> ''`,
  readyPullRequest: `update pull_requests set draft = true, state = 'open' where id = $2 and $1 <> ''`,
  mergePullRequest: `update pull_requests set draft = false, state = 'open' where id = $2 and $1 <> ''`,
  closePullRequest: `update pull_requests set merge_requested_at = null, state = 'open' where id = $2 and $1 <> ''`,
};

async function askAs(owner: Owner, operation: Operation): Promise<number> {
  const { ids, keys } = owner;
  const json = operation.id === 'signIn' ? { key: keys.admin } : bodyOf(operation, ids);
  const response = await fetch(api.url + pathOf(operation, ids), {
    method: operation.method,
    headers: {
      ...(operation.key === 'session'
        ? { cookie: ids['cookie'] ?? '', origin: api.url }
        : { authorization: `Bearer ${keys.admin}` }),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: json === undefined ? undefined : JSON.stringify(json),
  });
  await response.text();
  return response.status;
}

/** A digest of the rows of each table, except those that count requests. */
async function contents(): Promise<unknown> {
  const { rows } = await database.pool.query(digests);
  return rows;
}

async function statementOfDigests(): Promise<string> {
  const { rows } = await database.pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> all ($1) order by 1`,
    [counters],
  );
  const ofTable = rows.map(({ name }) => {
    const row = name === 'api_keys' ? `to_jsonb(one) - 'last_used_at'` : 'one';
    return `select '${name}' as name, md5(string_agg((${row})::text, '' order by (${row})::text)) as digest from ${name} as one`;
  });
  return `${ofTable.join(' union all ')} order by name`;
}

async function entriesOf({ organizationId }: Owner) {
  const { rows } = await database.pool.query(
    `select action, key_id is not null as "hasKey" from audit_entries where organization_id = $1 and key_id is not null`,
    [organizationId],
  );
  return rows;
}

it('has one entry for each change, in the transaction of the change', { tags: 'slow' }, async () => {
  const audited = operations
    .filter(({ id }) => !(id in unaudited))
    .toSorted((a, b) => deletions.indexOf(a.id) - deletions.indexOf(b.id));
  const owner = await createOwner(database.pool, api);
  for (const operation of audited) {
    if (operation.key === 'session') {
      const signedIn = await api.ask('/v1/session', { json: { key: owner.keys.admin } });
      owner.ids['cookie'] = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    }
    const prepare = before[operation.id];
    if (prepare !== undefined) await database.pool.query(prepare, [owner.ids['job'], owner.ids['pull-requests']]);

    const unchanged = await contents();
    await database.pool.query('alter table audit_entries add constraint broken check (false) not valid');
    expect([operation.id, await askAs(owner, operation)]).toEqual([operation.id, 500]);
    await database.pool.query('alter table audit_entries drop constraint broken');
    expect([operation.id, await contents()]).toEqual([operation.id, unchanged]);

    const earlier = (await entriesOf(owner)).length;
    expect([operation.id, await askAs(owner, operation)]).toEqual([
      operation.id,
      expect.toBeOneOf([200, 201, 202, 204]),
    ]);
    const entries = (await entriesOf(owner)).slice(earlier);
    expect([operation.id, entries.length]).toEqual([operation.id, 1]);
  }
  expect(audited.length).toBeGreaterThan(24);
});

it('omits only what the service still has', () => {
  const known = operations.map(({ id }) => id);
  expect(Object.keys(unaudited).filter((id) => !known.includes(id))).toEqual([]);
  expect(Object.keys(before).filter((id) => !known.includes(id))).toEqual([]);
});
