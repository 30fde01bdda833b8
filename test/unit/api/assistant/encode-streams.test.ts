import { describe, expect, it } from 'vitest';
import { createDataStreamEncoder } from '../../../../api/assistant/wire/encode-data-stream.ts';
import { createUiMessageEncoder } from '../../../../api/assistant/wire/encode-ui-message-stream.ts';
import type { ReplyPart, StreamEncoder } from '../../../../api/assistant/reply.ts';
import { anyCharacter, fc } from '../../../support/properties.ts';

const source: ReplyPart = {
  type: 'source',
  source: { id: 'src_1', url: 'https://docs.example.com/a', title: 'A', path: 'a' },
};
const text: ReplyPart = { type: 'text', text: 'To get ' };
const failure: ReplyPart = { type: 'failure', message: 'The answer broke off.' };
const usage = { inputTokens: 120, outputTokens: 15 };

function whole(encoder: StreamEncoder, parts: ReplyPart[]): string {
  return [encoder.open(), ...parts.map((part) => encoder.part(part)), ...encoder.close(usage)].join('');
}

const v2 = (showsThread = false) => createUiMessageEncoder({ messageId: 'msg_1', threadId: 'thr_1', showsThread });
const v1 = (hasParts: boolean) =>
  createDataStreamEncoder({
    messageId: 'msg_1',
    threadId: 'thr_1',
    question: 'How?',
    results: [{ content: 'To get A, do B.', path: 'a', url: 'https://docs.example.com/a', title: 'A' }],
    hasParts,
  });

describe('the v2 stream', () => {
  it('has the bytes of the wire format', () => {
    expect(whole(v2(), [source, text])).toMatchInlineSnapshot(`
      ": stream-open

      data: {"type":"start","messageId":"msg_1","messageMetadata":{"threadId":"thr_1"}}

      data: {"type":"start-step"}

      data: {"type":"source-url","sourceId":"src_1","url":"https://docs.example.com/a","title":"A"}

      data: {"type":"text-start","id":"txt_1"}

      data: {"type":"text-delta","id":"txt_1","delta":"To get "}

      data: {"type":"text-end","id":"txt_1"}

      data: {"type":"finish-step"}

      data: {"type":"finish","messageMetadata":{"threadId":"thr_1"}}

      data: [DONE]

      "
    `);
  });

  it('puts the thread at the top of finish only for readers without the SDK', () => {
    expect(v2(true).close(usage).join('')).toContain(
      'data: {"type":"finish","threadId":"thr_1","messageMetadata":{"threadId":"thr_1"}}\n\n',
    );
  });

  it('ends a failed reply with the error, the thread and [DONE]', () => {
    expect(whole(v2(), [text, failure]).split('\n\n').slice(-4)).toEqual([
      'data: {"type":"error","errorText":"The answer broke off."}',
      'data: {"type":"finish","messageMetadata":{"threadId":"thr_1"}}',
      'data: [DONE]',
      '',
    ]);
  });

  it('preserves any text, with one event per delta', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: anyCharacter })), (deltas) => {
        const parts = deltas.map((delta): ReplyPart => ({ type: 'text', text: delta }));
        const events = whole(v2(), parts).split('\n\n');
        const read = events
          .filter((event) => event.startsWith('data: {'))
          .map((event) => JSON.parse(event.slice(6)) as { type: string; delta?: string });
        expect(read.filter(({ type }) => type === 'text-delta').map(({ delta }) => delta)).toEqual(deltas);
      }),
    );
  });
});

describe('the v1 stream', () => {
  it('has the bytes of the wire format for clients that send parts', () => {
    const encoder = v1(true);
    const pieces = [encoder.open(), encoder.part(source), encoder.part(text), ...encoder.close(usage)];
    expect(pieces).toMatchInlineSnapshot(`
      [
        "f:{"messageId":"msg_1"}
      9:{"toolCallId":"call_1","toolName":"search","args":{"query":"How?"}}
      a:{"toolCallId":"call_1","result":[{"content":"To get A, do B.","path":"a","url":"https://docs.example.com/a","metadata":{"title":"A"}}]}
      e:{"finishReason":"tool-calls","usage":{"promptTokens":0,"completionTokens":0},"isContinued":false}
      f:{"messageId":"msg_1"}
      ",
        "",
        "0:"To get "
      ",
        "2:[{"type":"finish","threadId":"thr_1"}]
      8:[{"type":"finish","threadId":"thr_1"}]
      ",
        "h:{"sourceType":"url","id":"src_1","url":"https://docs.example.com/a","title":"A"}
      e:{"finishReason":"stop","usage":{"promptTokens":120,"completionTokens":15},"isContinued":false}
      d:{"type":"finish","threadId":"thr_1","finishReason":"stop","usage":{"promptTokens":120,"completionTokens":15}}
      ",
      ]
    `);
  });

  it('sends clients without parts no line that they cannot read', () => {
    const lines = whole(v1(false), [source, text]).split('\n').filter(Boolean);
    expect(lines).toEqual([
      '0:"To get "',
      '2:[{"type":"finish","threadId":"thr_1"}]',
      '8:[{"type":"finish","threadId":"thr_1"}]',
      '8:[{"type":"source","source":{"sourceType":"url","id":"src_1","url":"https://docs.example.com/a","title":"A"}}]',
      'e:{"finishReason":"stop","usage":{"promptTokens":120,"completionTokens":15},"isContinued":false}',
      'd:{"type":"finish","threadId":"thr_1","finishReason":"stop","usage":{"promptTokens":120,"completionTokens":15}}',
    ]);
  });

  it('sends the thread before an error, after which v4 clients stop reading', () => {
    const lines = whole(v1(false), [text, failure]).split('\n').filter(Boolean);
    expect(lines.slice(1, 4)).toEqual([
      '2:[{"type":"finish","threadId":"thr_1"}]',
      '8:[{"type":"finish","threadId":"thr_1"}]',
      '3:"The answer broke off."',
    ]);
  });

  it('keeps any text on one line', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (value) => {
        const line = v1(false).part({ type: 'text', text: value });
        expect(line.indexOf('\n')).toBe(line.length - 1);
        expect(JSON.parse(line.slice(2))).toBe(value);
      }),
    );
  });
});
