import { createParser } from 'eventsource-parser';
import { stringIn, stringsOf, valueIn } from '../unknown-fields.ts';

export interface Source {
  url: string;
  title: string;
}

/** A passage behind a sentence. */
export interface CitedPassage {
  url: string;
  title: string;
  /** Its nearest sentence, as Markdown; null when there is none to highlight. */
  quote: string | null;
}

/** A sentence of an answer, the passages behind it, and what it states that they do not contain. */
export interface Mark {
  text: string;
  passages: CitedPassage[];
  unsupported: string[];
}

/** One event of an answer, from the UI message stream of the AI SDK. */
export type AnswerEvent =
  | { type: 'start'; messageId: string; threadId: string | null }
  | { type: 'text'; text: string }
  | { type: 'source'; source: Source }
  | { type: 'marks'; marks: Mark[] }
  | { type: 'follow-ups'; questions: string[] }
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
    case 'data-citations':
      return { type: 'marks', marks: marksOf(valueIn(chunk, 'data')) };
    case 'data-follow-ups':
      return { type: 'follow-ups', questions: stringsOf(valueIn(chunk, 'data')) };
    case 'error':
      return { type: 'failure', message: stringIn(chunk, 'errorText') ?? 'The answer failed. Ask again.' };
    case 'finish':
      return { type: 'finish' };
    default:
      return null;
  }
}

/** Returns the sentences with passages or unsupported statements, from citations of unknown origin. */
export function marksOf(citations: unknown): Mark[] {
  if (!Array.isArray(citations)) return [];
  return citations.flatMap((citation) => {
    const [text, unsupported] = [stringIn(citation, 'text'), stringsOf(valueIn(citation, 'unsupported'))];
    const passages = passagesOf(valueIn(citation, 'passages'));
    return text === null || (passages.length === 0 && unsupported.length === 0)
      ? []
      : [{ text, passages, unsupported }];
  });
}

function passagesOf(cited: unknown): CitedPassage[] {
  if (!Array.isArray(cited)) return [];
  return cited.flatMap((passage) => {
    const [url, title] = [stringIn(passage, 'url'), stringIn(passage, 'title')];
    return url === null || title === null ? [] : [{ url, title, quote: stringIn(passage, 'quote') }];
  });
}
