import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSdkClient } from '../support/sdk-clients/sdk-client.ts';
import { sdkVersions, type SdkClientOptions } from '../support/sdk-clients/sdk-client-interface.ts';
import { whenIndexed } from '../support/sdk-clients/sdk-client-service.ts';
import { startTestStack, type TestStack } from '../support/stack/stack.ts';

const turns = [
  { question: 'How do I pair a lamp?', quotes: 'lamp pair', page: 'first-lamp' },
  { question: 'Which port does the controller listen on?', quotes: '4170', page: 'install' },
  { question: 'How do I run a scene at a time of day?', quotes: 'lamp schedule add', page: 'schedules' },
];

let stack: TestStack;

beforeAll(async () => {
  stack = await startTestStack();
  await whenIndexed(stack.localJson);
});

afterAll(() => stack?.[Symbol.asyncDispose]());

/** Three turns, each by a new client that knows only what the previous one saved. */
async function converse(settings: Pick<SdkClientOptions, 'version' | 'sendsExtraFields'>): Promise<string> {
  const service = stack.localJson;
  let messages: unknown[] = [];
  let threadId: string | null = null;
  for (const [index, turn] of turns.entries()) {
    const client = await createSdkClient({ ...settings, service, messages, threadId });
    await client.ask(turn.question);

    expect(client.error()).toBeNull();
    expect(client.status()).toBe('ready');
    expect(client.text()).toContain(turn.quotes);
    expect(client.sources().map(({ url }) => url)).toContainEqual(expect.stringContaining(turn.page));
    expect(client.sources().map(({ title }) => title)).not.toContain('');
    expect(client.roles()).toEqual(Array.from({ length: index + 1 }, () => ['user', 'assistant']).flat());
    expect(client.requestCount()).toBe(1);

    threadId ??= client.threadPlaces()['header'] ?? '';
    expect(threadId).toMatch(/^thr_/);
    for (const place of Object.values(client.threadPlaces())) expect(place).toBe(threadId);
    messages = client.saved();
  }
  return threadId ?? '';
}

/** Questions and answers of a thread as an administrator sees them. */
async function readThread(threadId: string): Promise<string[]> {
  const { baseUrl, domain, adminKey } = stack.localJson;
  const response = await fetch(`${baseUrl}/discovery/v1/assistant/${domain}/thread/${threadId}`, {
    headers: { authorization: `Bearer ${adminKey}` },
  });
  const { messages } = (await response.json()) as { messages: { role: string; content: string }[] };
  return messages.filter(({ role }) => role === 'user').map(({ content }) => content);
}

describe.each(sdkVersions)('AI SDK %s', (version) => {
  it('asks three questions on one thread, reloading its messages before each', async () => {
    const threadId = await converse({ version });
    expect(await readThread(threadId)).toEqual(turns.map(({ question }) => question));
  });
});

describe.each(sdkVersions.filter((version) => version.startsWith('4.')))('AI SDK %s', (version) => {
  it('does the same with sendExtraMessageFields off', async () => {
    const threadId = await converse({ version, sendsExtraFields: false });
    expect(await readThread(threadId)).toEqual(turns.map(({ question }) => question));
  });
});
