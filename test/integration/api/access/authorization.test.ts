import { beforeAll, describe, expect, it } from 'vitest';
import { createKeyText } from '../../../../db/organizations/key-format.ts';
import { operatorOf } from '../../../../db/caller.ts';
import { createKeyStore } from '../../../../db/organizations/keys.ts';
import { readDescription, type Operation } from '../../../suites/fuzz/description.ts';
import { buildKey, testPepper } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { bodyOf, createAsker, pathOf } from './described-requests.ts';
import { createOwner, receiver, type Kind, type Owner } from './owner.ts';
import { serveApi, type Answer } from '../serve.ts';
import { ofFile } from '../../../support/of-file.ts';

// Generated from the API description: a new route is tested as soon as it is described, and a route that is not described
// fails the last test.

type KeyOperation = Operation & { key: Kind };

const database = ofFile(createTestDatabase);
const api = ofFile(() =>
  serveApi(database.pool, {
    DOCKET_TRUSTED_PROXIES: '1',
    DOCKET_WEBHOOK_ALLOWED_HOSTS: new URL(receiver).host,
  }),
);
let operations: KeyOperation[];
let described: Operation[];
let ours: Owner;
let dead: Record<string, Record<Kind, string>>;
let asker: ReturnType<typeof createAsker>;

/** Operations that need no key. */
const open = ['getHealth', 'getReadiness', 'getMetrics', 'getDescription', 'signIn'];
/** HTML pages, which the description omits. */
const pages = ['/', '/reference', '/reference/:file'];

beforeAll(async () => {
  asker = createAsker(api);
  described = (await readDescription(api.url)).operations;
  operations = described.filter((operation): operation is KeyOperation =>
    ['admin', 'assistant'].includes(operation.key ?? ''),
  );
  ours = await createOwner(database.pool, api);
  const { pool } = database;
  const { organizationId } = ours;
  const expired = async (kind: Kind) => (await buildKey(pool, { organizationId, kind, expiresInDays: -1 })).key;
  const revoked = async (kind: Kind) => {
    const { key, row } = await buildKey(pool, { organizationId, kind });
    await createKeyStore(pool, testPepper).revoke(operatorOf(row), row.id);
    return key;
  };
  const ofBoth = async (make: (kind: Kind) => Promise<string>) => ({
    admin: await make('admin'),
    assistant: await make('assistant'),
  });
  dead = {
    unknown: await ofBoth((kind) => Promise.resolve(createKeyText(kind).key)),
    'cut off': { admin: ours.keys.admin.slice(0, -1), assistant: ours.keys.assistant.slice(0, -1) },
    // the same prefix as an admin key
    'with the letters of the other kind': {
      admin: ours.keys.assistant.replace('svc_dsc_', 'svc_'),
      assistant: ours.keys.admin.replace('svc_', 'svc_dsc_'),
    },
    expired: await ofBoth(expired),
    revoked: await ofBoth(revoked),
  };
});

function ask(operation: Operation, key: string | null, ids: Record<string, string>): Promise<Answer> {
  return asker(operation, key, { path: pathOf(operation, ids), json: bodyOf(operation, ids) });
}

/** Calls every operation and returns the responses by operation id. */
async function askAll(ask: (operation: KeyOperation) => Promise<unknown>): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const operation of operations) answers[operation.id] = await ask(operation);
  return answers;
}

function expected(status: number): Record<string, unknown> {
  return Object.fromEntries(operations.map(({ id }) => [id, [status, ['error']]]));
}

function shown({ status, body }: Answer): unknown {
  return [status, Object.keys(body ?? {})];
}

describe('every operation', () => {
  it('is part of the matrix', () => {
    expect(operations.length).toBeGreaterThan(25);
    const names = new Set(operations.flatMap(({ template }) => template.match(/[^/]+(?=\/\{)/g) ?? []));
    expect([...names].filter((name) => !name.startsWith('{') && !(name in ours.ids))).toEqual([]);
  });

  it('needs a key or a session, with few exceptions', () => {
    expect(
      described
        .filter(({ key }) => key === null)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(open.toSorted());
  });

  it('answers 401 without the session that it needs, or with one that is not signed', async () => {
    for (const { method, template } of described.filter(({ key }) => key === 'session')) {
      for (const cookie of ['', `docket_session=ses_1.${'A'.repeat(43)}`]) {
        const headers = { cookie, 'sec-fetch-site': 'same-origin' };
        expect(shown(await api.ask(template, { method, headers }))).toEqual([401, ['error']]);
      }
    }
  });

  it('answers 401 without a key', async () => {
    expect(await askAll(async (operation) => shown(await ask(operation, null, ours.ids)))).toEqual(expected(401));
  });

  it.each(['unknown', 'cut off', 'with the letters of the other kind', 'expired', 'revoked'])(
    'answers 401 to a key that is %s',
    async (state) => {
      const answers = await askAll(async (operation) =>
        shown(await ask(operation, dead[state]![operation.key], ours.ids)),
      );
      expect(answers).toEqual(expected(401));
    },
  );

  it('answers 403 to a key of the wrong kind', async () => {
    const other = { admin: 'assistant', assistant: 'admin' } as const;
    const answers = await askAll(async (operation) =>
      shown(await ask(operation, ours.keys[other[operation.key]], ours.ids)),
    );
    expect(answers).toEqual(expected(403));
  });

  it('has changed nothing so far', async () => {
    const { rows } = await database.pool.query(
      `select (select count(*)::int from jobs) as jobs, (select count(*)::int from webhook_endpoints) as webhooks,
              (select count(*)::int from threads) as threads, (select count(*)::int from job_messages) as messages,
              (select count(*)::int from jobs where status <> 'active') as ended`,
    );
    expect(rows).toEqual([{ jobs: 1, webhooks: 1, threads: 2, messages: 0, ended: 0 }]);
  });

  it('accepts the right key', { tags: 'slow', timeout: 600_000 }, async () => {
    for (const operation of operations) {
      const owner = await createOwner(database.pool, api);
      const { status, text } = await ask(operation, owner.keys[operation.key], owner.ids);
      const isIn = status < 300 || status === 409;
      expect([operation.id, isIn ? 'in' : `${status} ${text.slice(0, 200)}`]).toEqual([operation.id, 'in']);
    }
  });
});

describe('every route', () => {
  it('is either described or one of the few public ones', () => {
    const known = new Set(described.map(({ method, template }) => `${method} ${template}`));
    const routes = api.routes().filter(({ path }) => !pages.includes(path));
    const forgotten = routes
      .map(({ method, path }) => `${method} ${path.replaceAll(/[:*](\w+)/g, '{$1}')}`)
      .filter((route) => !route.startsWith('HEAD ') && !known.has(route));
    expect(forgotten).toEqual([]);
    expect(routes.length).toBeGreaterThanOrEqual(operations.length);
  });
});

describe('an idempotency key', () => {
  it('of another organization or project is a different key', async () => {
    const first = await createOwner(database.pool, api);
    const second = await createOwner(database.pool, api);
    const create = ({ keys, ids }: Owner) =>
      api.ask(`/v2/agent/${ids['agent']}/job`, {
        key: keys.admin,
        json: { prompt: 'The same' },
        headers: { 'idempotency-key': 'shared' },
      });
    const [one, again, other] = [await create(first), await create(first), await create(second)];
    expect([one.status, again.status, other.status]).toEqual([201, 200, 201]);
    expect(again.body.id).toBe(one.body.id);
    expect(other.body.id).not.toBe(one.body.id);
  });
});
