import { createRandom } from '../../../suites/chaos/plans/random.ts';
import type { Operation } from '../../../suites/fuzz/description.ts';
import { sampleOf } from '../../../suites/fuzz/sample.ts';
import { receiver } from './owner.ts';
import type { Answer, ServedApi } from '../serve.ts';

/** The path segment before each placeholder: the kind of id it takes. */
export function pathKinds({ template }: Operation): string[] {
  return template.match(/[^/]+(?=\/\{)/g) ?? [];
}

export function pathOf({ template }: Operation, ids: Record<string, string>): string {
  const segments = template.split('/');
  return segments.map((segment, at) => segment.replace(/\{\w+\}/, () => ids[segments[at - 1] ?? ''] ?? 'x')).join('/');
}

/** A body that the operation accepts, without optional properties. */
export function bodyOf(operation: Operation, ids: Record<string, string>): Record<string, unknown> | undefined {
  if (operation.body === null) return undefined;
  const random = { ...createRandom(7), next: () => 0.9 };
  const sample = sampleOf(operation.body, random, {
    prompt: () => 'x',
    url: () => receiver,
    model: () => 'offline/editor',
    source: () => ({}),
    messages: () => [{ role: 'user', content: 'retries?' }],
    query: () => 'retries',
    path: () => 'guides/retries',
    step: () => 1,
    turn: () => 1,
    secret: () => `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
    eventTypes: () => [],
    threadId: () => ids['thread'] ?? null,
    setId: () => ids['question-sets'] ?? null,
    messageId: () => ids['answer'] ?? null,
    repository: () => 'https://github.com/acme/more',
    domain: () => 'more-docs',
    directory: () => null,
    forge: () => 'github',
    filter: () => null,
    context: () => null,
  }) as Record<string, unknown>;
  return operation.id === 'createSite' ? { ...sample, repository: 'https://github.com/acme/more' } : sample;
}

/** Sends each request from a new address, since wrong keys are limited by address. A stream may never end; its headers suffice. */
export function createAsker(api: ServedApi) {
  let asked = 0;

  async function askStream(path: string, key: string | null, more: Record<string, string>): Promise<Answer> {
    const leave = new AbortController();
    const headers = { ...more, ...(key === null ? {} : { authorization: `Bearer ${key}` }) };
    const response = await fetch(api.url + path, { headers, signal: leave.signal });
    const text = response.ok ? '' : await response.text();
    leave.abort();
    return { status: response.status, headers: response.headers, text, body: text === '' ? null : JSON.parse(text) };
  }

  return function ask(
    { method, isEventStream }: Pick<Operation, 'method' | 'isEventStream'>,
    key: string | null,
    { path, json }: { path: string; json?: unknown },
  ): Promise<Answer> {
    asked += 1;
    const headers = { 'x-forwarded-for': `203.0.${Math.floor(asked / 250)}.${asked % 250}` };
    return isEventStream ? askStream(path, key, headers) : api.ask(path, { key, method, json, headers });
  };
}
