import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { startMcpServer } from '../../support/servers/mcp-server.ts';
import { echo, sceneOf } from './scene.ts';

const hang = () => undefined;
const say =
  (status: number, headers: Record<string, string>, body = '') =>
  (_request: unknown, response: ServerResponse) =>
    void response.writeHead(status, headers).end(body);
const flood = (chunk: string) => (_request: unknown, response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const more = () => {
    while (!response.destroyed && response.write(chunk));
    response.once('drain', more);
  };
  more();
};

const pages = async (request: IncomingMessage, response: ServerResponse) => {
  const { id, method } = JSON.parse(await text(request));
  if (id === undefined) return void response.writeHead(202).end();
  const serverInfo = { name: 'x', version: '1' };
  const result =
    method === 'initialize'
      ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
      : { tools: [], nextCursor: 'more', _meta: { x: 'y'.repeat(3_000_000) } };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
};

const answers: [string, (request: never, response: ServerResponse) => void, RegExp][] = [
  ['redirects', say(307, { location: 'http://169.254.169.254/' }), /redirects, and redirects are not followed/],
  ['redirects within its origin', say(307, { location: '/other' }), /redirects, and redirects are not followed/],
  [
    'asks for OAuth',
    say(401, { 'www-authenticate': 'Bearer resource_metadata="http://127.0.0.1:1/"' }),
    /asks for authorization/,
  ],
  ['has an error', say(500, {}, 'x'.repeat(10_000)), /answered with status 500$/],
  ['answers with a page', say(200, { 'content-type': 'text/html' }, '<h1>Hi</h1>'), /as the protocol requires/],
  [
    'answers with nonsense',
    say(200, { 'content-type': 'application/json' }, '{"jsonrpc":'),
    /as the protocol requires/,
  ],
  ['floods', flood('"lorem ipsum dolor",'), /answered with (?:more than 4 MB|JSON that holds more than 50000 values)/],
  ['floods with pages', pages, /more than 16 MB in all/],
  ['floods with nesting', flood('[[[[[[[['), /nested deeper/],
  ['closes the connection', (_request, response) => void response.destroy(), /did not respond/],
];

it.each(answers)('is a notice and an error when a server %s', async (_what, answer, problem) => {
  await using server = await startMcpServer([echo]);
  const scene = sceneOf(server);
  const [pinned] = (await scene.pin()).tools;
  server.replace(answer as never);
  expect(await scene.pin()).toEqual({
    tools: [],
    notices: [{ server: 'docs', problem: expect.stringMatching(problem) }],
  });
  await using caller = scene.caller();
  const output = await caller.call(pinned!, { text: 'x' }, 'c');
  expect(output.isError).toBe(true);
  expect(output.text).toMatch(/^The MCP server docs /);
  expect(output.text.length).toBeLessThan(300);
  expect(server.calls).toEqual([]);
});

it('ends with its job while a server hangs', async () => {
  await using server = await startMcpServer([echo]);
  const scene = sceneOf(server);
  const [pinned] = (await scene.pin()).tools;
  const cancel = new AbortController();
  server.tools[0]!.call = () => {
    cancel.abort(new Error('cancelled'));
    return new Promise(hang);
  };
  await using caller = scene.caller(cancel.signal);
  await expect(caller.call(pinned!, { text: 'x' }, 'c')).rejects.toThrow('cancelled');
});

it('gives up on a server that never lists its tools', { tags: 'slow' }, async () => {
  await using server = await startMcpServer([echo]);
  server.replace(hang);
  const { notices } = await sceneOf(server).pin();
  expect(notices).toEqual([{ server: 'docs', problem: 'did not answer within 10 seconds' }]);
});

it('reaches no private address that the operator has not listed', async () => {
  await using server = await startMcpServer([echo]);
  const port = new URL(server.url).port;
  let hits = 0;
  const spy = createServer((_request, response) => {
    hits += 1;
    response.end();
  });
  spy.listen(0, '127.0.0.1');
  for (const url of [
    server.url,
    `https://127.0.0.1:${port}/mcp`,
    `https://localhost:${port}/mcp`,
    `https://[::1]:${port}/`,
    'http://example.com/',
  ]) {
    const { tools, notices } = await sceneOf({ url, host: 'unlisted' }, {}, []).pin();
    const problem = expect.stringMatching(/ DOCKET_PRIVATE_HOSTS of the worker .*[^.]$/);
    expect([url, tools, notices]).toEqual([url, [], [{ server: 'docs', problem }]]);
  }
  spy.close();
  expect([hits, server.calls]).toEqual([0, []]);
});

it('answers nothing that a server asks of it', { tags: 'slow' }, async () => {
  await using server = await startMcpServer([echo]);
  const scene = sceneOf(server);
  let requests = 0;
  server.replace((request, response) => {
    requests += 1;
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let id = 0; id < 5_000; id += 1)
      response.write(
        `data: ${JSON.stringify({ jsonrpc: '2.0', id: `s${id}`, method: 'sampling/createMessage', params: {} })}\n\n`,
      );
    response.end();
  });
  const { tools, notices } = await scene.pin();
  expect([tools, notices.length]).toEqual([[], 1]);
  expect(requests).toBeLessThanOrEqual(300);
});
