import { createParser } from 'eventsource-parser';
import { stringIn, valueIn } from './unknown-fields.ts';

export interface Source {
  url: string;
  title: string;
}

/** One event of an answer, from the UI message stream of the AI SDK. */
export type AnswerEvent =
  | { type: 'start'; messageId: string; threadId: string | null }
  | { type: 'text'; text: string }
  | { type: 'source'; source: Source }
  | { type: 'failure'; message: string }
  | { type: 'finish' };

/** Reads the events of an answer as they arrive. Chunks of other types are skipped. */
export async function* readAnswerEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<AnswerEvent, void> {
  let events: AnswerEvent[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      const event = eventOf(data);
      if (event !== null) events.push(event);
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      const read = events;
      events = [];
      yield* read;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function eventOf(data: string): AnswerEvent | null {
  if (data === '[DONE]') return null;
  const chunk: unknown = JSON.parse(data);
  switch (stringIn(chunk, 'type')) {
    case 'start':
      return {
        type: 'start',
        messageId: stringIn(chunk, 'messageId') ?? '',
        threadId: stringIn(valueIn(chunk, 'messageMetadata'), 'threadId'),
      };
    case 'text-delta':
      return { type: 'text', text: stringIn(chunk, 'delta') ?? '' };
    case 'source-url': {
      const url = stringIn(chunk, 'url') ?? '';
      return { type: 'source', source: { url, title: stringIn(chunk, 'title') ?? url } };
    }
    case 'error':
      return { type: 'failure', message: stringIn(chunk, 'errorText') ?? 'The answer failed. Ask again.' };
    case 'finish':
      return { type: 'finish' };
    default:
      return null;
  }
}
