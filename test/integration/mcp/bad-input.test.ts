import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../support/database/database.ts';
import { serveApi, type AskOptions } from '../api/serve.ts';
import { buildIndexedSite } from '../assistant/site.ts';
import { connectMcp, textOf } from './mcp-client.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));
const docs = ofFile(() => buildIndexedSite(database.pool));
const theirs = ofFile(() => buildIndexedSite(database.pool));

const post = (options: AskOptions, { site } = docs) =>
  api.ask(`/mcp/${site.domain}`, {
    key: docs.assistantKey,
    ...options,
    headers: { origin: 'https://a.example', ...options.headers },
  });
const rpc = (method: string, params?: unknown) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  ...(params === undefined ? {} : { params }),
});
const tool = (name: string, args: unknown) => rpc('tools/call', { name, arguments: args });
const ping = rpc('ping');

describe('a message', () => {
  it.each([
    ['a list', [ping], 400, /must be an object/],
    ['null', null, 400, /must be an object/],
    ['of another version', { ...ping, jsonrpc: '1.0' }, 400, /^jsonrpc/],
    ['without a method', { jsonrpc: '2.0', id: 1, result: {} }, 400, /^method is missing/],
    ['with a null id', { ...ping, id: null }, 400, /^id/],
    ['with a list of params', rpc('ping', []), 400, /^params/],
    ['of more than 256 KiB', rpc('ping', { more: 'x'.repeat(300_000) }), 413, /larger than 262144 bytes/],
    ['with arguments in a list', tool('search', []), 400, /^params\.arguments must be an object\.$/],
    ['without a tool', rpc('tools/call'), 400, /^params is missing\.$/],
    ['without a URI', rpc('resources/read', {}), 400, /^params\.uri is missing\.$/],
    ['without a client', rpc('initialize', {}), 400, /^params\.\w+ is missing/],
    ['with a NUL', tool('search', { query: 'a\0b' }), 400, /NUL/],
  ])('%s is refused in one sentence', async (_name, json, status, sentence) => {
    const { headers, ...answer } = await post({ json });
    expect([answer.status, answer.body]).toEqual([status, { error: expect.stringMatching(sentence) }]);
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });

  it.each([
    ['of an unknown method', rpc('prompts/list'), -32_601, /Method not found/],
    ['for an unknown tool', tool('rm', {}), -32_602, /There is no such tool\.$/],
    ['without a query', tool('search', {}), -32_602, /: query is missing\.$/],
    ['with a number as query', tool('search', { query: 7 }), -32_602, /: query must be a string\.$/],
    ['with a blank question', tool('ask', { question: ' ' }), -32_602, /: question must not be blank\.$/],
    ['with a long question', tool('ask', { question: 'x'.repeat(20_001) }), -32_602, /at most 20000 characters\.$/],
    ['with a misspelled argument', tool('search', { query: 'x', page_size: 1 }), -32_602, /Did you mean `pageSize`\?$/],
    ['with too many passages', tool('search', { query: 'x', pageSize: 51 }), -32_602, /pageSize must be at most 50\.$/],
    ['with a negative offset', tool('read_page', { path: 'x', offset: -1 }), -32_602, /offset must be at least 0\.$/],
    ['with a wrong vote', tool('send_feedback', { threadId: 't', messageId: 'm', vote: 'x' }), -32_602, /vote/],
    ['with a wrong cursor', rpc('resources/list', { cursor: 'x' }), -32_602, /: cursor must be a whole number/],
  ])('%s is answered with an error', async (_name, json, code, sentence) => {
    const { status, body } = await post({ json });
    expect([status, body.id, body.error]).toEqual([200, 1, { code, message: expect.stringMatching(sentence) }]);
  });

  it('is refused in an unknown version of the protocol', async () => {
    const { status, body } = await post({ json: rpc('tools/list'), headers: { 'mcp-protocol-version': '1999-01-01' } });
    expect([status, body]).toEqual([400, { error: expect.stringContaining('protocol version') }]);
  });

  it('that is a notification has no answer', async () => {
    const { status, text } = await post({ json: { jsonrpc: '2.0', method: 'notifications/initialized' } });
    expect([status, text]).toEqual([202, '']);
  });

  it('can only be posted', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const { status, headers } = await post({ method });
      expect([method, status, headers.get('allow')]).toEqual([method, 405, 'OPTIONS, POST']);
    }
  });
});

describe('a site', () => {
  it('of another organization is not found, nor is one that does not exist', async () => {
    const [foreign, none] = [
      await post({ json: ping }, theirs),
      await post({ json: ping }, { ...docs, site: { ...docs.site, domain: 'none' } }),
    ];
    expect([foreign.status, foreign.body]).toEqual([404, { error: 'The site was not found.' }]);
    expect([none.status, none.body]).toEqual([404, foreign.body]);
  });

  it('needs an assistant key', async () => {
    for (const [key, status] of [
      [null, 401],
      [docs.adminKey, 403],
    ] as const)
      expect((await post({ key, json: ping })).status).toBe(status);
  });

  it('takes no rating for an answer of another site', async () => {
    const [client, other] = [await connectMcp(api, docs), await connectMcp(api, theirs)];
    const asked: any = await client.callTool({ name: 'ask', arguments: { question: 'retry limit?' } });
    const { threadId, messageId } = asked.structuredContent;
    const rating = { name: 'send_feedback', arguments: { threadId, messageId, vote: 'up' } };
    const refused = await other.callTool(rating);
    expect([refused.isError, textOf(refused)]).toEqual([
      true,
      'The answer was not found in a conversation of this site.',
    ]);
    expect((await client.callTool(rating)).isError).toBeUndefined();
    const continued: any = await other.callTool({ name: 'ask', arguments: { question: 'retry limit?', threadId } });
    expect(continued.structuredContent.threadId).not.toBe(threadId);
    await client.close();
    await other.close();
  });
});
