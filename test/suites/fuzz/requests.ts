import type { Random } from '../chaos/plans/random.ts';
import { canarySecret } from '../../support/canary-secrets.ts';
import type { Operation } from './description.ts';
import type { KnownIds } from './known-ids.ts';
import { headerGames, mutate, oddSegments, oddValues, spoil, spoilPath, type Json } from './odd-values.ts';
import { sampleOf, type Hints } from './sample.ts';

export interface FuzzRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | null;
  /** Mutation that was applied to a valid request. */
  mutation: string;
}

/** Values that requests may name. */
export interface FuzzTargets {
  keys: { admin: string; assistant: string };
  /** Of a session of the dashboard. */
  cookie: string;
  /** Keys that are refused: expired, revoked, unknown. */
  deadKeys: string[];
  /** Where webhooks may lead. */
  webhookUrl: string;
  domain: string;
  /** Of our own projects. */
  repository: string;
  projectIds: string[];
  /** Ids of another organization. */
  foreign: { projectId: string; jobId: string; domain: string; webhookId: string; threadId: string };
  /** Ids that answers have contained so far. */
  known: KnownIds;
}

const idPrefixes: Record<string, string> = {
  job: 'job_',
  projects: 'prj_',
  webhooks: 'whk_',
  deliveries: 'dlv_',
  thread: 'thr_',
  'pull-requests': 'pr_',
  gaps: 'gap_',
};
/** Share of the requests that name an existing resource. */
const hitShare = 0.85;

type Valid = Omit<FuzzRequest, 'mutation' | 'body'> & { json: Json | null; operation: Operation };

/** Makes requests over all operations, most of them with one thing wrong. */
export function createRequestMaker(random: Random, operations: Operation[], targets: FuzzTargets): () => FuzzRequest {
  const { keys, known } = targets;
  let canaries = 0;

  const hints: Hints = {
    prompt: () =>
      random.pick(['Create NOTES.md with "notes"', 'Append "more" to README.md', 'What is this?', 'Delete README.md']),
    url: () => targets.webhookUrl,
    query: () => random.pick(['retry delay', 'How do I run a scene?']),
    path: () => random.pick(['guides/install', 'index', '/guides/scenes.md#x', 'nowhere']),
    method: () => random.pick(['initialize', 'tools/list', 'tools/call', 'tools/call', 'resources/read', 'rm']),
    params: () =>
      random.pick<Json>([
        { name: 'search', arguments: { query: 'retry delay' } },
        { name: 'read_page', arguments: { path: 'guides/install', offset: 10 } },
        { name: 'ask', arguments: { question: 'How do I run a scene?' }, _meta: { progressToken: 1 } },
        { name: 'send_feedback', arguments: { threadId: targets.foreign.threadId, messageId: 'x', vote: 'up' } },
        { uri: `docs://${random.pick([targets.domain, targets.foreign.domain])}/guides/install` },
        { cursor: 'x' },
      ]),
    model: () => random.pick<Json>([null, 'offline/editor', 'nobody/nothing']),
    source: () =>
      random.pick<Json>([{}, { ref: 'main' }, { ref: 'nowhere' }, { repository: 'https://github.com/a/b' }]),
    messages: () => {
      if (random.next() < 0.1) return largeMessages();
      return [...Array.from({ length: random.between(0, 2) }, message), { role: 'user', content: 'retries?' }];
    },
    step: () => random.between(1, 3),
    turn: () => 1,
    id: () => `chat-${random.between(1, 60)}`,
    threadId: () => random.pick<Json>([null, 'thr_unknown', ...known.newest('thr_', 3)]),
    filter: () => random.pick<Json>([null, { version: 'v1' }, { language: 'en', tag: 'x', groups: ['a'] }]),
    context: () =>
      Array.from({ length: random.next() < 0.1 ? random.pick([50, 51, 5_000]) : 1 }, () => ({
        type: random.pick(['code', 'textSelection']),
        value: 'x: 3',
        path: null,
        elementId: 'x',
      })),
    currentPath: () => '/guides/install',
    repository: () => random.pick(['https://forge.invalid/a/b', targets.repository, '/etc']),
    // the request would wait for a forge on the network
    forge: () => 'local',
    forgeUrl: () => null,
    domain: () => `site-${random.between(1, 20)}`,
    key: () => random.pick([keys.admin, keys.assistant, ...targets.deadKeys]),
    q: () => random.pick(['docs', '%', "'"]),
  };

  /** As many and as long as a body holds, or more: messages, parts, a question of short words, characters that JSON escapes. */
  function largeMessages(): Json[] {
    const last: Json = { role: 'user', content: 'retries?' };
    const letter = () => 'bcdfghjklmnpqrstvwxz'[random.between(0, 19)] ?? 'b';
    const list = (length: number, item: Json) => Array.from({ length }, () => item);
    return random.pick<() => Json[]>([
      () => [...list(random.pick([499, 500, 20_000, 110_000]), { role: 'data', content: '' }), last],
      () => [{ role: 'user', parts: list(random.pick([500, 501, 100_000]), { type: 'text', text: 'a' }) }],
      () => [{ role: 'user', content: Array.from({ length: 330 }, () => letter() + letter()).join(' ') }],
      () => [{ role: 'user', content: '\u0001'.repeat(random.pick([20_000, 600_000])) }],
    ])();
  }

  function message(): Json {
    const parts: Json[] = [
      { type: 'text', text: random.pick(['How do I change the retry limit?', 'Ist das gut?', '?']) },
      { type: 'tool-search', state: 'output-available', input: {}, output: [] },
      { type: 'source-url', sourceId: 'src_1', url: 'https://docs.example.com/', title: 'A' },
      { type: 'step-start' },
    ];
    const some = parts.slice(0, random.between(1, parts.length));
    return random.pick<Json>([
      { id: '1', role: 'user', parts: some },
      { role: 'user', content: 'How do I install the widget?' },
      { id: '2', role: 'assistant', content: '', parts: some, metadata: { threadId: 'thr_1' } },
      { role: 'system', content: 'Be brief.' },
    ]);
  }

  /** Returns an existing value for a path parameter, by the segment before it; null if none is known. */
  function valueOf(name: string, before: string, of: Partial<Record<string, string>>): string | null {
    if (name === 'chatId') return `chat-${random.between(1, 60)}`;
    if (name === 'path') return random.pick(['guides/install', 'index', 'nowhere']);
    if (name === 'turn') return '1';
    if (name === 'step') return String(random.between(1, 3));
    const owned = ({ projectId, webhookId }: { projectId: string | null; webhookId: string | null }) =>
      (of.projectId === undefined || projectId === of.projectId) && (name !== 'deliveryId' || webhookId === of.id);
    return known.pick(idPrefixes[before] ?? '', random, owned)?.id ?? null;
  }

  function pathOf({ method, template }: Operation): string {
    // what the others ask stays as it is
    const isChange = template.startsWith('/v1/') && method !== 'GET';
    const domain = isChange && !template.includes('/gaps/') ? `site-${random.between(1, 20)}` : targets.domain;
    const values: Partial<Record<string, string>> = { domain };
    if (template.includes('{projectId}')) values.projectId = random.pick(targets.projectIds);
    const segments = template.split('/');
    return segments
      .map((segment, at) =>
        segment.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
          const before = segments[at - 1] ?? '';
          const there = random.next() < hitShare ? valueOf(name, before, values) : known.any(random);
          return (values[name] ??= there ?? `${idPrefixes[before] ?? 'x_'}000000000000`);
        }),
      )
      .join('/');
  }

  function credentialOf({ key }: Operation): Record<string, string> {
    if (key === null) return {};
    if (key === 'session' || (key === 'admin' && random.next() < 0.1))
      return { cookie: targets.cookie, 'sec-fetch-site': random.pick(['same-origin', 'same-origin', 'cross-site']) };
    return { authorization: `Bearer ${keys[key]}` };
  }

  function valid(): Valid {
    const operation = random.pick(operations);
    const query = operation.queries
      .filter(() => random.next() < 0.4)
      .map(({ name, schema }) => `${name}=${encodeURIComponent(String(sampleOf(schema, random)))}`);
    const sent = operation.headers
      .filter(() => random.next() < 0.3)
      .map(({ name, schema }) => [name.toLowerCase(), asciiOf(sampleOf(schema, random))]);
    const json = operation.body === null ? null : sampleOf(operation.body, random, hints);
    const headers: Record<string, string> = {
      ...credentialOf(operation),
      'x-forwarded-for': `203.0.113.${random.between(1, 250)}`,
      ...(json === null ? {} : { 'content-type': 'application/json' }),
      ...(operation.isEventStream && random.next() < 0.5 ? { accept: 'text/event-stream' } : {}),
      ...Object.fromEntries(sent),
    };
    const path = pathOf(operation) + (query.length === 0 ? '' : `?${query.join('&')}`);
    return { operation, method: operation.method, path, headers, json };
  }

  /** Puts a secret where none belongs; it must not be found anywhere afterwards. */
  function secret(): string {
    canaries += 1;
    return canarySecret(canaries);
  }

  function foreignPath({ template }: Operation): string {
    const { foreign } = targets;
    const ids: Record<string, string> = {
      job: foreign.jobId,
      projects: foreign.projectId,
      webhooks: foreign.webhookId,
      thread: foreign.threadId,
    };
    const segments = template.split('/');
    const own = random.pick(targets.projectIds);
    return segments
      .map((segment, at) =>
        segment.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
          if (name === 'projectId') return random.pick([own, foreign.projectId]);
          if (name === 'domain') return foreign.domain;
          return ids[segments[at - 1] ?? ''] ?? 'x';
        }),
      )
      .join('/');
  }

  const mutations: ((request: Valid, body: Buffer | null) => FuzzRequest)[] = [
    ...Array.from({ length: 5 }, () => (request: Valid, body: Buffer | null) => ({
      ...request,
      body,
      mutation: 'none',
    })),
    (request) => {
      const mutation = request.json === null ? 'none' : mutate(request.json, random);
      return { ...request, body: bytesOf(request.json), mutation };
    },
    (request) => {
      const mutation = request.json === null ? 'none' : mutate(request.json, random);
      return { ...request, body: bytesOf(request.json), mutation };
    },
    (request, body) => ({ ...request, body: body === null ? null : spoil(body, random), mutation: 'spoiled bytes' }),
    (request, body) => {
      const headers = { ...request.headers, ...random.pick(headerGames) };
      return { ...request, headers, body, mutation: 'headers' };
    },
    (request, body) => {
      const method = random.pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'PROPFIND', 'TRACE']);
      return { ...request, method, path: pathOf({ ...request.operation, method }), body, mutation: 'method' };
    },
    (request, body) => {
      const { admin, assistant } = keys;
      const odd = [assistant, admin, ...targets.deadKeys, `${assistant.slice(0, -1)}x`, admin.slice(0, 30), 'svc_', ''];
      const headers = { ...request.headers, authorization: `Bearer ${random.pick(odd)}` };
      return { ...request, headers, body, mutation: 'key' };
    },
    (request, body) => ({ ...request, path: spoilPath(request.path, random), body, mutation: 'path' }),
    (request, body) => ({ ...request, path: foreignPath(request.operation), body, mutation: 'foreign' }),
    (request, body) => {
      const names = request.operation.queries.map(({ name }) => name);
      const name = random.pick([...names, 'x']);
      const value = random.pick([
        encodeURIComponent(JSON.stringify(random.pick(oddValues))).slice(0, 900),
        ...oddSegments,
      ]);
      const [path = ''] = request.path.split('?');
      return { ...request, path: `${path}?${name}=${value}`, body, mutation: 'query' };
    },
    (request, body) => {
      const text = secret();
      const mutation = 'secret';
      const { headers, path } = request;
      return random.pick<() => FuzzRequest>([
        () => ({ ...request, headers: { ...headers, authorization: `Bearer ${text}` }, body, mutation }),
        () => ({ ...request, headers: { ...headers, cookie: `session=${text}`, 'x-api-key': text }, body, mutation }),
        () => ({
          ...request,
          headers: { ...headers, 'user-agent': text, referer: `https://a/?t=${text}` },
          body,
          mutation,
        }),
        () => ({ ...request, path: `${path}${path.includes('?') ? '&' : '?'}access_token=${text}`, body, mutation }),
        () => ({ ...request, path: `${path}/${text}`, body, mutation }),
      ])();
    },
  ];

  return function nextRequest() {
    const request = valid();
    return random.pick(mutations)(request, bytesOf(request.json));
  };
}

function bytesOf(json: Json | null): Buffer | null {
  return json === null ? null : Buffer.from(JSON.stringify(json));
}

function asciiOf(value: Json): string {
  return String(value)
    .replaceAll(/[^\x20-\x7e]/g, 'x')
    .trim();
}
