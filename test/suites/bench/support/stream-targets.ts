import { Pool } from 'pg';
import { apiOptions } from '../../../../local/processes/services.ts';
import { loadCore, serverCore, startBenchProcess } from './bench-process.ts';
import type { BenchProcess } from './bench-process.ts';
import type { BenchOptions } from './options.ts';
import type { BenchServers } from './servers.ts';
import { apiEnvironment, seedSite } from './site.ts';
import type { StreamLoad, StreamLoadResult } from './stream-load.ts';
import { questionFor } from './stream-model.ts';

const sitePages = 200;

export type Protocol = 'v1' | 'v2';

/** The parameters of the model's answer; 0 ms: all at once. */
export interface StreamWish {
  deltas: number;
  everyMs: number;
}

export type StreamRequest = Pick<StreamLoad, 'port' | 'request'>;

/** The API with a model that answers at once, node:http that writes the same, and the load generator. */
export interface StreamTargets extends AsyncDisposable {
  apiPid: number;
  barePid: number;
  loadPid: number;
  request(protocol: Protocol, wish: StreamWish): StreamRequest;
  /** Makes node:http write what the API answers to the same request. */
  bareRequest(protocol: Protocol, wish: StreamWish): Promise<StreamRequest>;
  run(load: StreamLoad): Promise<StreamLoadResult>;
  /** When the model was told that an answer is no longer needed, in milliseconds since the epoch. */
  abortedAt(): Promise<number[]>;
}

/** Starts them, on a site of generated pages. */
export async function startStreamTargets(servers: BenchServers, options: BenchOptions): Promise<StreamTargets> {
  await using resources = new AsyncDisposableStack();
  const database = await servers.database();
  const pool = new Pool({ connectionString: database.url, max: 2 });
  const site = await seedSite(pool, sitePages);
  await pool.end();
  const flags = [...apiOptions, ...options.serverFlags];
  const service = { core: serverCore, env: apiEnvironment(database.url), flags };
  const api = resources.use(await startBenchProcess('assistant-api', service));
  const bare = resources.use(await startBenchProcess('bare-http', { core: serverCore }));
  const load = resources.use(await startBenchProcess('stream-load', { core: loadCore }));
  const apiPort = await api.ask<number>('port');
  const barePort = await bare.ask<number>('port');
  const request = (protocol: Protocol, wish: StreamWish) => ({
    port: apiPort,
    request: requestOf({ path: `/discovery/${protocol}/assistant/${site.domain}/message`, key: site.key, wish }),
  });
  const running = resources.move();
  return {
    apiPid: api.pid,
    barePid: bare.pid,
    loadPid: load.pid,
    request,
    async bareRequest(protocol, wish) {
      const asked = request(protocol, wish);
      await record(bare, asked, { protocol, wish });
      return { ...asked, port: barePort };
    },
    abortedAt: () => api.ask<number[]>('abortedAt'),
    run: (input) => load.ask<StreamLoadResult>('run', input),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function requestOf({ path, key, wish }: { path: string; key: string; wish: StreamWish }): string {
  const parts = [{ type: 'text', text: questionFor(wish) }];
  const body = JSON.stringify({ fp: 'anonymous', messages: [{ id: '1', role: 'user', parts }] });
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    'Origin: https://docs.example.com',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** Splits the API's answer into its events, for node:http to write. */
async function record(
  bare: BenchProcess,
  { port, request }: StreamRequest,
  { protocol, wish }: { protocol: Protocol; wish: StreamWish },
): Promise<void> {
  const [head = '', body = ''] = request.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines
    .map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string])
    .filter(([name]) => !['Host', 'Content-Length'].includes(name));
  const response = await fetch(`http://127.0.0.1:${port}${first.split(' ')[1]}`, { method: 'POST', body, headers });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`The API answers ${response.status}: ${text}`);
  const answered = [...response.headers].filter(
    ([name]) => !['date', 'connection', 'keep-alive', 'transfer-encoding'].includes(name),
  );
  const events = text.match(protocol === 'v1' ? /.*\n/g : /.*?\n\n/gs) ?? [];
  await bare.ask('record', { headers: Object.fromEntries(answered), events, everyMs: wish.everyMs });
}
