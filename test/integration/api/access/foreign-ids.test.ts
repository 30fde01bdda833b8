import { beforeAll, expect, it } from 'vitest';
import { encodeCursor } from '../../../../db/page-cursor.ts';
import { readDescription, type Operation, type Schema } from '../../../suites/fuzz/description.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { bodyOf, createAsker, pathKinds, pathOf } from './described-requests.ts';
import { createOwner, receiver, secretIdsOf, type Kind, type Owner } from './owner.ts';
import { neverGiven, rowsWith } from './rows-of-owner.ts';
import { comparable, serveApi, type Answer } from '../serve.ts';
import { ofFile } from '../../../support/of-file.ts';

// Generated from the API description: each place of each operation that takes an id gets ids of another organization,
// and must answer as for an id that never existed. An unknown place fails the first test.

/** The kind of id in a path, by the preceding segment; null: something within the preceding resource. */
const pathPlaces: Record<string, string | null> = {
  agent: 'agent',
  projects: 'agent',
  sites: 'sites',
  assistant: 'sites',
  search: 'sites',
  suggest: 'sites',
  page: 'sites',
  docs: 'sites',
  mcp: 'sites',
  gaps: 'gaps',
  'question-sets': 'question-sets',
  evaluations: 'evaluations',
  job: 'job',
  keys: 'keys',
  'pull-requests': 'pull-requests',
  secrets: 'secrets',
  webhooks: 'webhooks',
  deliveries: 'deliveries',
  thread: 'thread',
  message: 'message',
  steps: null,
  images: null,
  '{turn}': null,
  '{domain}': null,
};

/** The kind of id that a field of a query or body takes. */
const idFields: Record<string, string> = {
  keyId: 'keys',
  subject: 'job',
  project: 'agent',
  projectId: 'agent',
  threadId: 'thread',
  setId: 'question-sets',
  questionSetId: 'question-sets',
  messageId: 'answer',
  cursor: 'cursor',
  domain: 'sites',
};

/** Fields that take no row id. */
const plainFields = new Set(
  `action person startedBy format status state failure pullRequest createdSince order limit after from q jsonrpc method deleteBranch mergeBase params turn run step answered vote headCommit days hours since until topic page table questions history expectedPages expectedFacts expectsAnswer origin configurations prompt source ref model draft fp messages role content parts
  type text mediaType filename images hash citations retrievalPageSize filter version language tag groups context value path elementId currentPath trigger resumable stream
  query pageSize reasons comment instructions skills servers command env tools readOnly headers key link name defaultRef forgeUrl reviewers labels assignees allowedPaths
  mayChangeWorkflows mayRun plan ask selfReview reason checkCommand environment fetchHosts jobBudgetUsd dailyBudgetUsd forgeToken sshKey sshKnownHosts forge baseUrl
  updatedAt retentionDays refreshMinutes sources threads tags prefix weight answerBudgetUsd starterQuestions queryRewriting unsupported contact followUps requestsPerMinute requestsPerDay captcha provider indexGuard margin force allowedOrigins allowsNoOrigin proofOfWork directory kind expiresInDays url description eventTypes secret enabled readerTokens algorithm issuer publicKey id repository
  allowedRepositories models reasoningEffort maxOutputTokens`.split(/\s+/),
);

type Walked = Operation & { key: Kind };

const database = ofFile(createTestDatabase);
const api = ofFile(() =>
  serveApi(database.pool, {
    DOCKET_TRUSTED_PROXIES: '1',
    DOCKET_WEBHOOK_ALLOWED_HOSTS: new URL(receiver).host,
  }),
);
let ask: ReturnType<typeof createAsker>;
let operations: Walked[];
let ours: Owner;
let theirs: Owner;
let missing: Record<string, string>;

beforeAll(async () => {
  ask = createAsker(api);
  const described = (await readDescription(api.url)).operations;
  operations = described.filter((operation): operation is Walked =>
    ['admin', 'assistant'].includes(operation.key ?? ''),
  );
  ours = withCursor(await createOwner(database.pool, api));
  theirs = withCursor(await createOwner(database.pool, api));
  missing = Object.fromEntries(Object.entries(ours.ids).map(([kind, id]) => [kind, neverGiven(id)]));
  missing['cursor'] = encodeCursor({ createdMicros: latest, id: missing['job']! });
});

const latest = String(Date.now() * 1_000 + 3_600_000_000);

function withCursor(owner: Owner): Owner {
  return { ...owner, ids: { ...owner.ids, cursor: encodeCursor({ createdMicros: latest, id: owner.ids['job']! }) } };
}

/** The names of all fields of a schema, at any depth. */
function fieldsOf(schema: Schema): string[] {
  const inside: Schema[] = [
    ...['anyOf', 'oneOf', 'allOf'].flatMap((choice) => schema[choice] ?? []),
    ...(schema['items'] === undefined ? [] : [schema['items']]),
    ...Object.values<Schema>(schema['properties'] ?? {}),
  ];
  return [...Object.keys(schema['properties'] ?? {}), ...inside.flatMap(fieldsOf)];
}

interface Place {
  name: string;
  request(from: Record<string, string>): { path: string; json?: unknown };
}

/** Requests of `theirs` with one or more ids replaced by the given ones. */
function placesOf(operation: Operation): Place[] {
  const kinds = pathKinds(operation).filter((kind) => pathPlaces[kind] !== null);
  const own = theirs.ids;
  const json = bodyOf(operation, own);
  const subsets = Array.from({ length: 2 ** kinds.length - 1 }, (_, bits) =>
    kinds.filter((_kind, at) => (bits + 1) & (1 << at)),
  );
  const inPath = subsets.map((chosen) => ({
    name: `path ${chosen.join(' and ')}`,
    request: (from: Record<string, string>) => {
      const given = chosen.map((kind) => [kind, from[pathPlaces[kind]!]!]);
      return { path: pathOf(operation, { ...own, ...Object.fromEntries(given) }), json };
    },
  }));
  const inQuery = operation.queries.flatMap(({ name }) =>
    name in idFields
      ? [
          {
            name: `query ${name}`,
            request: (from: Record<string, string>) => ({
              path: `${pathOf(operation, own)}?${name}=${encodeURIComponent(from[idFields[name]!]!)}`,
              json,
            }),
          },
        ]
      : [],
  );
  const inBody = Object.keys(operation.body?.['properties'] ?? {}).flatMap((name) =>
    name in idFields
      ? [
          {
            name: `body ${name}`,
            request: (from: Record<string, string>) => ({
              path: pathOf(operation, own),
              json: { ...json, [name]: from[idFields[name]!] },
            }),
          },
        ]
      : [],
  );
  return [...inPath, ...inQuery, ...inBody];
}

/** A response without the parts that differ between any two. */
function shown(answer: Answer, from: Record<string, string>): unknown {
  const headers = new Headers(answer.headers);
  for (const name of ['ratelimit', 'content-length', 'etag', 'date', 'x-request-id']) headers.delete(name);
  let text = JSON.stringify(comparable({ ...answer, headers }));
  for (const id of Object.values(from)) if (id.length > 8) text = text.replaceAll(id, 'ID');
  return text.replaceAll(/\b[a-z]+_[0-9a-z]{24}\b/g, 'ID').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
}

it('every parameter and field of the API description that could be an id is known', () => {
  const unknown = operations.flatMap((operation) => [
    ...pathKinds(operation)
      .filter((kind) => !(kind in pathPlaces))
      .map((kind) => `${operation.id} path ${kind}`),
    ...[...operation.queries.map(({ name }) => name), ...fieldsOf(operation.body ?? {})]
      .filter((name) => !(name in idFields) && !plainFields.has(name))
      .map((name) => `${operation.id} ${name}`),
  ]);
  expect(unknown).toEqual([]);
  expect(Object.values(ours.ids).filter((id) => id === undefined || id === '')).toEqual([]);
});

it('answers another organization as if nothing existed, and changes none of its data', { tags: ['slow'] }, async () => {
  const secretIds = secretIdsOf(ours);
  const before = await rowsWith(database.pool, secretIds);
  const walked = new Set<string>();
  // a site with the same domain is their own from then on
  const isLast = ({ id }: Walked) => Number(id === 'createSite');
  for (const operation of operations.toSorted((a, b) => isLast(a) - isLast(b))) {
    const key = theirs.keys[operation.key];
    for (const { name, request } of placesOf(operation)) {
      const place = `${operation.id}: ${name}`;
      const none = await ask(operation, key, request(missing));
      const foreign = await ask(operation, key, request(ours.ids));
      expect([place, shown(foreign, ours.ids)]).toEqual([place, shown(none, missing)]);
      // nothing to resume is not an error
      const status = name === 'path message' ? 204 : 404;
      if (name.startsWith('path')) expect([place, foreign.status]).toEqual([place, status]);
      const { json } = request(ours.ids);
      const asked = new Set(JSON.stringify([request(ours.ids).path, json]).match(/[\w-]{9,}/g));
      const shownIds = secretIds.filter((id) => !asked.has(id) && foreign.text.includes(id));
      expect([place, shownIds]).toEqual([place, []]);
      expect([place, await rowsWith(database.pool, secretIds)]).toEqual([place, before]);
      walked.add(operation.id);
    }
    if (walked.has(operation.id)) continue;
    const { text } = await ask(operation, key, {
      path: pathOf(operation, theirs.ids),
      json: bodyOf(operation, theirs.ids),
    });
    expect([operation.id, secretIds.filter((id) => text.includes(id))]).toEqual([operation.id, []]);
  }
  expect(walked.size).toBeGreaterThan(45);
});
