import { createServer } from 'node:http';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { afterEach, expect, it } from 'vitest';
import { fetchFromProvider } from '../../../models/provider-fetch.ts';
import { listening } from '../../support/servers/listening.ts';

const usual = getGlobalDispatcher();
afterEach(() => setGlobalDispatcher(usual));

it.each([
  ['before its answer', ''],
  ['within its answer', 'data: 1\n\n'],
])('waits for a model that is silent %s for longer than fetch does', async (_, first) => {
  const { promise: thought, resolve: think } = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    if (first !== '') response.write(first);
    void thought.then(() => response.end('data: 2\n\n'));
    request.resume();
  });
  await using at = await listening(server);
  setGlobalDispatcher(new Agent({ headersTimeout: 300, bodyTimeout: 300 }));
  const url = `http://127.0.0.1:${at.port}`;
  const patient = fetchFromProvider(url).then((response) => response.text());
  await expect(fetch(url).then((response) => response.text())).rejects.toThrow(/fetch failed|terminated/);
  think();
  expect(await patient).toBe(`${first}data: 2\n\n`);
});
