import { beforeAll, describe, expect, it } from 'vitest';
import { readDescription, type Operation, type Schema } from '../../../suites/fuzz/description.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { createOwner, receiver } from './owner.ts';
import { serveApi } from '../serve.ts';
import { fc, propertyRuns } from '../../../support/properties.ts';
import { ofFile } from '../../../support/of-file.ts';

// Generated from the API description: a new body or query is tested as soon as it is described.

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool, { DOCKET_WEBHOOK_ALLOWED_HOSTS: new URL(receiver).host }));
const owner = ofFile(() => createOwner(database.pool, api));
let operations: Operation[];

beforeAll(async () => {
  operations = (await readDescription(api.url)).operations;
});

/** Operations that readers' pages call: their clients add their own fields. */
const isOfReaders = ({ key }: Operation) => key === 'assistant';
/** No gap exists before an unanswered question, so its body is not read. */
const isRead = ({ template }: Operation) => !template.includes('/gaps/');

function pathOf({ template }: Operation): string {
  const segments = template.split('/');
  return segments
    .map((segment, at) =>
      segment.replace(/\{\w+\}/, () => owner.ids[segments[at - 1] ?? ''] ?? owner.ids[segment] ?? 'x'),
    )
    .join('/');
}

function objectsOf(schema: Schema): Schema[] {
  const parts = [...Object.values(schema['properties'] ?? {}), schema['items'], ...(schema['anyOf'] ?? [])];
  const inner = parts
    .filter((part) => part !== undefined && part !== null)
    .flatMap((part) => objectsOf(part as Schema));
  return schema['type'] === 'object' ? [schema, ...inner] : inner;
}

/** Ways to misspell a name. */
const slips: Record<string, (name: string, at: number) => string> = {
  'a letter too few': (name, at) => name.slice(0, at) + name.slice(at + 1),
  'a letter twice': (name, at) => name.slice(0, at) + name.charAt(at) + name.slice(at),
  'two letters swapped': (name, at) => name.slice(0, at) + name.charAt(at + 1) + name.charAt(at) + name.slice(at + 2),
  'a wrong letter': (name, at) => `${name.slice(0, at)}z${name.slice(at + 1)}`,
  'words joined by underscores': (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  'another case': (name) => name.toUpperCase(),
};

function misspelled(known: string[]): fc.Arbitrary<{ meant: string; given: string }> {
  return fc
    .record({ meant: fc.constantFrom(...known), slip: fc.constantFrom(...Object.keys(slips)), at: fc.nat(30) })
    .map(({ meant, slip, at }) => ({ meant, given: slips[slip]!(meant, at % meant.length) }))
    .filter(({ given }) => given !== '' && !known.includes(given));
}

/** The intended name, or another that is equally close: `id` for `ie` may be `if`. */
function nearestIn(sentence: string, known: string[]): boolean {
  const named = /Did you mean `(\w+)`\?$/.exec(sentence)?.[1];
  return named !== undefined && known.includes(named);
}

describe('a body of jobs or of administration', () => {
  it('declares in the API description that it accepts no other fields, at any depth', () => {
    const bodies = operations.filter((operation) => operation.body !== null && !isOfReaders(operation));
    expect(bodies.length).toBeGreaterThan(12);
    for (const { id, body } of bodies)
      for (const object of objectsOf(body!)) expect([id, object['additionalProperties']]).toEqual([id, false]);
  });

  it('is refused with a misspelled field, with a suggestion', async () => {
    const bodies = operations.filter((one) => one.body !== null && !isOfReaders(one) && isRead(one));
    const signedIn = await api.ask('/v1/session', { json: { key: owner.keys.admin } });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    await fc.assert(
      fc.asyncProperty(
        fc
          .constantFrom(...bodies)
          .chain((operation) =>
            misspelled(Object.keys(operation.body!['properties'])).map((name) => ({ operation, ...name })),
          ),
        async ({ operation, meant, given }) => {
          const { method } = operation;
          const access =
            operation.key === 'session' ? { headers: { cookie, origin: api.url } } : { key: owner.keys.admin };
          const answer = await api.ask(pathOf(operation), { ...access, method, json: { [given]: 'x' } });
          expect([answer.status, answer.body.error], `${operation.id} ${meant}`).toEqual([
            400,
            expect.stringMatching(/^Unknown field `[\w.-]+`\. Did you mean `\w+`\?$/),
          ]);
          expect(nearestIn(answer.body.error, Object.keys(operation.body!['properties']))).toBe(true);
        },
      ),
      { numRuns: propertyRuns(200) },
    );
  });

  it('names the field, its location and the closest match', async () => {
    const path = `/v2/agent/${owner.ids['agent']}/job`;
    const ask = async (json: unknown) => (await api.ask(path, { key: owner.keys.admin, json })).body.error;
    expect(await ask({ promt: 'x' })).toBe('Unknown field `promt`. Did you mean `prompt`?');
    expect(await ask({ prompt: 'x', source: { branch: 'x' } })).toBe(
      'Unknown field `branch` in `source`. It takes `repository`, `ref`.',
    );
    expect(await ask({ prompt: 'x', source: { re: 'x' } })).toBe('Unknown field `re` in `source`. Did you mean `ref`?');
    expect(await ask({ prompt: 'x', 'my secret: 7': 1 })).toBe(
      'Unknown field. It takes `prompt`, `images`, `source`, `model`, `models`, `reasoningEffort`, `maxOutputTokens`, `draft`, `plan`, `ask`.',
    );
  });
});

describe('a query of jobs or of administration', () => {
  it('is refused with a misspelled parameter, with a suggestion', async () => {
    const queried = operations.filter((one) => one.queries.length > 0 && !isOfReaders(one));
    expect(queried.length).toBeGreaterThan(8);
    for (const operation of queried) {
      for (const { name } of operation.queries) {
        const path = `${pathOf(operation)}?${name}x=1`;
        const { status, body } = await api.ask(path, { key: owner.keys.admin, method: operation.method });
        expect([operation.id, status, body?.error]).toEqual([
          operation.id,
          400,
          `Unknown query parameter \`${name}x\`. ${name.length > 2 ? `Did you mean \`${name}\`?` : body?.error.slice(body.error.indexOf('. ') + 2)}`,
        ]);
      }
    }
  });

  it('is refused with a NUL in a parameter, which no text of the database can contain', async () => {
    for (const operation of operations.filter((one) => !isOfReaders(one))) {
      for (const { name } of operation.queries) {
        const path = `${pathOf(operation)}?${name}=a%00b`;
        const answer = await api.ask(path, { key: owner.keys.admin, method: operation.method });
        expect([operation.id, name, answer.status, answer.body?.error]).toEqual([
          operation.id,
          name,
          400,
          'A query parameter contains a NUL character (%00). Remove it.',
        ]);
      }
    }
  });
});

describe('a path', () => {
  it('names nothing with a NUL in a parameter', async () => {
    const named = operations.filter(({ template }) => template.includes('{'));
    expect(named.length).toBeGreaterThan(50);
    for (const operation of named) {
      const at = operation.template.lastIndexOf('{');
      const before = pathOf({ ...operation, template: operation.template.slice(0, at) });
      const path = before + operation.template.slice(at).replace(/\{\w+\}/, 'a%00b');
      const request = { method: operation.method, ...(operation.body !== null && { json: {} }) };
      const key = isOfReaders(operation) ? owner.keys.assistant : owner.keys.admin;
      const { status } = await api.ask(path, { key, ...request });
      expect([400, 401, 403, 404, 204], operation.id).toContain(status);
    }
  });
});

describe("a reader's body", () => {
  it('accepts fields that a client adds', async () => {
    const search = { query: 'retries', sessionId: 'abc', metadata: { a: 1 } };
    const answer = await api.ask(`/discovery/v1/search/${owner.ids['search']}`, {
      key: owner.keys.assistant,
      json: search,
    });
    expect(answer.status).toBe(200);
    for (const { id, body } of operations.filter((one) => one.body !== null && isOfReaders(one)))
      expect([id, body!['additionalProperties'] === false]).toEqual([id, false]);
  });
});
