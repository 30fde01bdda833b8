import { question } from '../../assistant/site.ts';
import type { ServedApi } from '../serve.ts';

export type ReaderRequest = [method: string, path: string, json: object | undefined];

/** Returns every request that an assistant key can make. */
export function readerRequests(domain: string): ReaderRequest[] {
  const mcp = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const rating = { threadId: 'thr_none', messageId: 'msg_none', vote: 'up' };
  const chat = `assistant/${domain}/message/c1/stream`;
  return [
    ['POST', `/discovery/v1/assistant/${domain}/message`, question('retry limit?')],
    ['POST', `/discovery/v2/assistant/${domain}/message`, question('retry limit?')],
    ['GET', `/discovery/v1/${chat}`, undefined],
    ['GET', `/discovery/v2/${chat}`, undefined],
    ['DELETE', `/discovery/v1/${chat}`, undefined],
    ['DELETE', `/discovery/v2/${chat}`, undefined],
    ['POST', `/discovery/v2/assistant/${domain}/feedback`, rating],
    ['POST', `/discovery/v1/search/${domain}`, { query: 'retry' }],
    ['POST', `/discovery/v1/suggest/${domain}`, { query: 'ret' }],
    ['POST', `/discovery/v1/page/${domain}`, { path: 'guides/install' }],
    ['GET', `/discovery/v1/docs/${domain}/llms.txt`, undefined],
    ['GET', `/discovery/v1/docs/${domain}/llms-full.txt`, undefined],
    ['GET', `/discovery/v1/docs/${domain}/guides/install.md`, undefined],
    ['POST', `/mcp/${domain}`, mcp],
  ];
}

export function sendAsReader(
  api: ServedApi,
  key: string,
  [method, path, json]: ReaderRequest,
  { origin, proof = '' }: { origin: string | null; proof?: string },
) {
  const headers: Record<string, string> = {
    ...(origin === null ? {} : { Origin: origin }),
    ...(proof === '' ? {} : { 'X-Proof-Of-Work': proof }),
  };
  return api.ask(path, { method, key, headers, ...(json === undefined ? {} : { json }) });
}
