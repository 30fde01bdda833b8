import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AnswerError, type Answer, type AnswerEvent, type Client } from '../../../../dashboard/widget/client.ts';
import { createConversation } from '../../../../dashboard/widget/conversation.ts';

const started: AnswerEvent = { type: 'start', messageId: 'msg_1', threadId: 'thr_1' };
const source = { url: 'https://docs.example/a', title: 'A' };
const mark = {
  text: 'Run it.',
  passages: [{ url: 'https://docs.example/a#b', title: 'B', quote: null }],
  unsupported: ['it'],
};
const whole: AnswerEvent[] = [
  started,
  { type: 'source', source },
  { type: 'text', text: 'Run ' },
  { type: 'text', text: 'it.' },
  { type: 'marks', marks: [mark] },
  { type: 'follow-ups', questions: ['Stop it'] },
  { type: 'finish' },
];

/** Sends events, then ends as said: with the stream, with a lost connection, or never. */
async function* send(events: AnswerEvent[], then: 'end' | 'break' | 'stay' = 'end', signal?: AbortSignal) {
  yield* events;
  if (then === 'break') throw new TypeError('network error');
  if (then === 'stay') await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
}

const answerOf = (events: AsyncIterable<AnswerEvent>): Answer => ({
  resume: { chatId: 'chat', token: 'secret' },
  events,
});

const address = 'https://docket.example.com/discovery/v2/assistant/my-docs';

function clientOf(overrides: Partial<Client>): Client {
  const unexpected = () => Promise.reject(new Error('unexpected call'));
  const none = { ask: unexpected, resume: unexpected, stop: unexpected, rate: unexpected, search: unexpected };
  return { address, ...none, suggest: unexpected, ...overrides };
}

function memoryStorage() {
  const values = new Map<string, string>();
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  };
}

const textsOf = ({ state }: { state(): { messages: { text: string }[] } }) => state().messages.map(({ text }) => text);

describe('a conversation', () => {
  it('grows with the answer, and continues its thread', async () => {
    const ask = vi.fn<Client['ask']>(async () => answerOf(send(whole)));
    const conversation = createConversation({ client: clientOf({ ask }) });
    const seen: string[] = [];
    conversation.subscribe(() => seen.push(conversation.state().status));
    await conversation.ask('How?', { currentPath: '/guide' });
    expect(conversation.state()).toMatchObject({ status: 'ready', error: null, threadId: 'thr_1' });
    expect(conversation.state().messages).toMatchObject([
      { role: 'user', text: 'How?' },
      {
        role: 'assistant',
        id: 'msg_1',
        text: 'Run it.',
        sources: [source],
        marks: [mark],
        followUps: ['Stop it'],
      },
    ]);
    expect([...new Set(seen)]).toEqual(['submitted', 'streaming', 'ready']);
    await conversation.ask('And then?');
    expect(ask.mock.calls.map(([question]) => [question.threadId, question.messages.length])).toEqual([
      [null, 1],
      ['thr_1', 3],
    ]);
  });

  it('resumes a broken connection from the start of the answer, without saying anything twice', async () => {
    const resume = vi.fn<Client['resume']>(async () => answerOf(send(whole)));
    const ask: Client['ask'] = async () => answerOf(send(whole.slice(0, 3), 'break'));
    const conversation = createConversation({ client: clientOf({ ask, resume }) });
    await conversation.ask('How?');
    expect(resume.mock.calls.map(([handle]) => handle)).toEqual([{ chatId: 'chat', token: 'secret' }]);
    expect(conversation.state().messages.at(-1)).toMatchObject({ text: 'Run it.', sources: [source] });
    expect(conversation.state()).toMatchObject({ status: 'ready', error: null });
  });

  describe('without a network', () => {
    const ask: Client['ask'] = async () => answerOf(send(whole.slice(0, 3), 'break'));
    const unreachable = () => Promise.reject(new TypeError('Failed to fetch'));
    beforeEach(() => {
      vi.useFakeTimers();
      return () => vi.useRealTimers();
    });

    it('tries for as long as the server continues the answer', async () => {
      const startedAt = Date.now();
      const resume: Client['resume'] = async () =>
        Date.now() - startedAt < 50_000 ? unreachable() : answerOf(send(whole));
      const conversation = createConversation({ client: clientOf({ ask, resume }) });
      const asked = conversation.ask('How?');
      await vi.advanceTimersByTimeAsync(60_000);
      expect(textsOf(conversation)).toEqual(['How?', 'Run ']);
      await vi.advanceTimersByTimeAsync(60_500);
      await asked;
      expect(conversation.state()).toMatchObject({ status: 'ready', error: null });
      expect(textsOf(conversation)).toEqual(['How?', 'Run it.']);
    });

    it('gives up after two minutes, and keeps the text', async () => {
      const conversation = createConversation({ client: clientOf({ ask, resume: unreachable }) });
      const asked = conversation.ask('How?');
      await vi.advanceTimersByTimeAsync(121_000);
      await asked;
      expect(conversation.state()).toMatchObject({ status: 'error', error: 'The answer was interrupted. Ask again.' });
      expect(textsOf(conversation)).toEqual(['How?', 'Run ']);
    });

    it('resumes at once when the browser is online again', async () => {
      const page = new EventTarget();
      vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
      let isOnline = false;
      const resume: Client['resume'] = async () => (isOnline ? answerOf(send(whole)) : unreachable());
      const conversation = createConversation({ client: clientOf({ ask, resume }) });
      const asked = conversation.ask('How?');
      await vi.advanceTimersByTimeAsync(21_000);
      isOnline = true;
      page.dispatchEvent(new Event('online'));
      await asked;
      expect(textsOf(conversation)).toEqual(['How?', 'Run it.']);
      vi.unstubAllGlobals();
    });
  });

  it('resumes after a reload, and forgets the secret with the end of the answer', async () => {
    const storage = memoryStorage();
    const first = createConversation({
      client: clientOf({ ask: async (_, signal) => answerOf(send(whole.slice(0, 3), 'stay', signal)) }),
      storage,
    });
    void first.ask('How?');
    await vi.waitFor(() => expect(textsOf(first)).toEqual(['How?', 'Run ']), 30_000);
    const other = clientOf({ address: address.replace('my-docs', 'others') });
    expect(createConversation({ client: other, storage }).state().messages).toEqual([]);
    expect(storage.getItem(`docket:${address}`)).toContain('secret');
    const second = createConversation({ client: clientOf({ resume: async () => answerOf(send(whole)) }), storage });
    expect(second.state().status).toBe('streaming');
    await second.resume();
    expect(textsOf(second)).toEqual(['How?', 'Run it.']);
    expect(storage.getItem(`docket:${address}`)).not.toContain('secret');
    first.stop();
  });

  it('says that an answer is lost when there is nothing to resume', async () => {
    const storage = memoryStorage();
    const first = createConversation({
      client: clientOf({ ask: async (_, signal) => answerOf(send([started], 'stay', signal)) }),
      storage,
    });
    void first.ask('How?');
    await vi.waitFor(() => expect(first.state().status).toBe('streaming'), 30_000);
    const second = createConversation({ client: clientOf({ resume: async () => null }), storage });
    await second.resume();
    expect(second.state()).toMatchObject({ status: 'error', error: 'The answer was interrupted. Ask again.' });
    first.stop();
  });

  it('keeps the text of a stopped answer and ignores what arrives later', async () => {
    const stopped = vi.fn<() => void>();
    const ask: Client['ask'] = async (_, signal) => {
      signal?.addEventListener('abort', stopped);
      return answerOf(send(whole.slice(0, 3), 'stay', signal));
    };
    const stop = vi.fn<Client['stop']>(async () => {});
    const conversation = createConversation({ client: clientOf({ ask, stop }) });
    const asked = conversation.ask('How?');
    await vi.waitFor(() => expect(textsOf(conversation)).toEqual(['How?', 'Run ']), 30_000);
    conversation.stop();
    await asked;
    expect(stopped).toHaveBeenCalledOnce();
    expect(stop.mock.calls).toEqual([[{ chatId: 'chat', token: 'secret' }]]);
    expect(conversation.state()).toMatchObject({ status: 'ready', error: null });
    expect(textsOf(conversation)).toEqual(['How?', 'Run ']);
  });

  it('shows the sentence of a refusal, and of an answer that fails', async () => {
    const replies: (() => Promise<Answer>)[] = [
      () => Promise.reject(new AnswerError(429, 'Too many questions.')),
      async () => answerOf(send([started, { type: 'failure', message: 'The model is down.' }, { type: 'finish' }])),
    ];
    const conversation = createConversation({ client: clientOf({ ask: () => replies.shift()!() }) });
    await conversation.ask('How?');
    expect(conversation.state()).toMatchObject({ status: 'error', error: 'Too many questions.' });
    await conversation.ask('How?');
    expect(conversation.state()).toMatchObject({ status: 'error', error: 'The model is down.' });
  });

  it('replaces an edited question and all that followed it', async () => {
    const ask = vi.fn<Client['ask']>(async () => answerOf(send(whole)));
    const conversation = createConversation({ client: clientOf({ ask }) });
    await conversation.ask('How?');
    await conversation.ask('And then?');
    await conversation.edit(conversation.state().messages[0]!.id, 'Why?');
    expect(textsOf(conversation)).toEqual(['Why?', 'Run it.']);
    expect(ask.mock.lastCall![0].messages).toHaveLength(1);
  });

  it.each(['', '{', 'null', '{"state":{"messages":[{"id":1}],"status":"odd"}}', '{"state":{"messages":[7,null]}}'])(
    'starts empty with the stored text %s of another script',
    (stored) => {
      const storage = { ...memoryStorage(), getItem: () => stored };
      expect(createConversation({ client: clientOf({}), storage }).state().messages).toEqual([]);
    },
  );
});
