import { createServer } from 'node:http';

/** Responses of a hostile provider, by name: the body of a stream or of an error. Run as a program, this serves them at `/<name>/…`. */
export const hostileAnswers = {
  'a text in one frame': () => [chunk({ content: words(590_000) })],
  'a text in frames of a few characters': () => Array.from({ length: 20_000 }, () => chunk({ content: 'lorem ipsu' })),
  'a text of line breaks': () => [chunk({ content: 'a\n'.repeat(290_000) })],
  'reasoning in one frame': () => [chunk({ reasoning_content: words(590_000) })],
  'arguments in one frame': () => [call(JSON.stringify({ path: 'a', content: words(500_000) }))],
  'arguments in frames of a few characters': () => [
    call('{"path":"a","content":"'),
    ...Array.from({ length: 4_000 }, () => callPart('lorem ipsum dolor si')),
    callPart('"}'),
  ],
  'arguments of many values': () => [call(`{${Array.from({ length: 6_000 }, (_, at) => `"k${at}":{}`).join()}}`)],
  'arguments of very many values': () => [call(`{${Array.from({ length: 40_000 }, (_, at) => `"k${at}":{}`).join()}}`)],
  'arguments of many values in pieces': () => [
    call('['),
    ...Array.from({ length: 3_000 }, () => callPart('{"a":{}},'.repeat(20))),
    callPart('0]'),
  ],
  'arguments that nest deep': () => [call('['.repeat(250_000) + ']'.repeat(250_000))],
  'a frame of many values': () => [
    `data: ${JSON.stringify({ id: 'a', choices: Array.from({ length: 300_000 }, () => ({})) })}\n\n`,
  ],
  'many calls': () => Array.from({ length: 3_000 }, (_, index) => call('{"path":"a"}', index)),
  'no line': () => ['x'.repeat(64e6)],
  'long comments': () => Array.from({ length: 60 }, () => `: ${'x'.repeat(1e6)}\n`),
  'an error without end': () => [JSON.stringify({ error: { message: 'x'.repeat(40e6) } })],
};

export type HostileAnswer = keyof typeof hostileAnswers;

function words(length: number): string {
  return 'lorem ipsum dolor '.repeat(length / 18);
}

function chunk(delta: object, finish_reason: string | null = null): string {
  return `data: ${JSON.stringify({ id: 'a', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
}

function call(text: string, index = 0): string {
  return chunk({ tool_calls: [{ index, id: `call_${index}`, function: { name: 'write', arguments: text } }] });
}

function callPart(text: string): string {
  return chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] });
}

if (import.meta.main) {
  const server = createServer((request, response) => {
    const name = decodeURIComponent(request.url?.split('/')[1] ?? '') as HostileAnswer;
    request.resume().on('end', () => {
      const isError = name === 'an error without end';
      response.writeHead(isError ? 500 : 200, { 'content-type': isError ? 'application/json' : 'text/event-stream' });
      response.end(`${hostileAnswers[name]().join('')}${isError ? '' : `${chunk({}, 'stop')}data: [DONE]\n\n`}`);
    });
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    console.log(typeof address === 'object' ? address?.port : '');
  });
}
