import { Pool } from 'pg';
import type { BenchOptions } from './support/options.ts';
import { loadCore, serverCore, startBenchProcess } from './support/bench-process.ts';
import type { BenchProcess } from './support/bench-process.ts';
import { cpuSecondsOf, meterLoad } from './support/cpu.ts';
import { figure, median, printNote, printTable } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';
import { apiEnvironment, seedSite } from './support/site.ts';
import type { StreamLoad, StreamLoadResult } from './support/stream-load.ts';
import { questionFor } from './support/stream-model.ts';
import { findCapacity } from './stream-capacity.ts';

const burstDeltas = 200;
const connections = 50;
const sitePages = 200;

type Protocol = 'v1' | 'v2';

/** What the trials talk to. */
export interface StreamTargets {
  api: BenchProcess;
  bare: BenchProcess;
  load: BenchProcess;
  request(protocol: Protocol, wish: { deltas: number; everyMs: number }): Promise<Pick<StreamLoad, 'port' | 'request'>>;
  /** Has node:http write what the API answers to the same request. */
  bareRequest(protocol: Protocol, wish: { deltas: number; everyMs: number }): Promise<Pick<StreamLoad, 'port' | 'request'>>;
}

/** Streams of the assistant through its real route, against node:http writing the same bytes. */
export async function benchStreams(servers: BenchServers, options: BenchOptions): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const database = await servers.database();
  const pool = new Pool({ connectionString: database.url, max: 2 });
  const site = await seedSite(pool, sitePages);
  await pool.end();
  const api = resources.use(
    await startBenchProcess('assistant-api', { core: serverCore, env: apiEnvironment(database.url), flags: options.serverFlags }),
  );
  const bare = resources.use(await startBenchProcess('bare-http', { core: serverCore }));
  const load = resources.use(await startBenchProcess('stream-load', { core: loadCore }));
  const targets = await targetsOf({ api, bare, load, site });
  await benchBursts(targets, options);
  await findCapacity(targets, options);
}

async function targetsOf({
  api,
  bare,
  load,
  site,
}: Pick<StreamTargets, 'api' | 'bare' | 'load'> & { site: { domain: string; key: string } }): Promise<StreamTargets> {
  const apiPort = await api.ask<number>('port');
  const barePort = await bare.ask<number>('port');
  const request: StreamTargets['request'] = async (protocol, wish) => {
    const body = JSON.stringify({
      fp: 'anonymous',
      messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: questionFor(wish) }] }],
    });
    const head = [
      `POST /discovery/${protocol}/assistant/${site.domain}/message HTTP/1.1`,
      'Host: 127.0.0.1',
      `Authorization: Bearer ${site.key}`,
      'Content-Type: application/json',
      'Origin: https://docs.example.com',
      `Content-Length: ${Buffer.byteLength(body)}`,
    ];
    return { port: apiPort, request: `${head.join('\r\n')}\r\n\r\n${body}` };
  };
  return {
    api,
    bare,
    load,
    request,
    async bareRequest(protocol, wish) {
      const asked = await request(protocol, wish);
      await bare.ask('record', { ...(await recordingOf(asked, protocol)), everyMs: wish.everyMs });
      return { ...asked, port: barePort };
    },
  };
}

/** What the API answers, cut into its events. */
async function recordingOf({ port, request }: Pick<StreamLoad, 'port' | 'request'>, protocol: Protocol) {
  const [head = '', body = ''] = request.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]);
  const response = await fetch(`http://127.0.0.1:${port}${first.split(' ')[1]}`, {
    method: 'POST',
    body,
    headers: headers.filter(([name]) => !['Host', 'Content-Length'].includes(name)),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`The API answers ${response.status}: ${text}`);
  const answered = [...response.headers].filter(
    ([name]) => !['date', 'connection', 'keep-alive', 'transfer-encoding'].includes(name),
  );
  const events = text.match(protocol === 'v1' ? /.*\n/g : /.*?\n\n/gs) ?? [];
  return { headers: Object.fromEntries(answered), events };
}

async function benchBursts(targets: StreamTargets, options: BenchOptions): Promise<void> {
  const { api, bare } = targets;
  const burst = { deltas: burstDeltas, everyMs: 0 };
  const short = { deltas: 2, everyMs: 0 };
  const variants = [
    { name: 'v2', pid: api.pid, load: await targets.request('v2', burst) },
    { name: 'v1', pid: api.pid, load: await targets.request('v1', burst) },
    { name: 'v2, 2 deltas', pid: api.pid, load: await targets.request('v2', short) },
    { name: 'node:http, same events as v2', pid: bare.pid, load: await targets.bareRequest('v2', burst) },
  ];
  const measured = variants.map(() => ({ rates: [] as number[], cpu: [] as number[] }));
  const others: number[] = [];
  for (let round = 0; round <= options.rounds; round += 1) {
    // every other round the other way round, so that a drift of the machine spares none
    const order = [...variants.keys()];
    if (round % 2 === 1) order.reverse();
    for (const at of order) {
      const variant = variants[at]!;
      const meter = meterLoad();
      const cpu = cpuSecondsOf(variant.pid);
      const result = await runLoad(targets.load, { ...variant.load, streams: connections, seconds: options.seconds, rampSeconds: 0 });
      if (result.failed > 0) throw new Error(`${result.failed} streams of ${variant.name} failed.`);
      if (round === 0) continue; // warm-up
      others.push(meter.others());
      measured[at]!.rates.push(result.finished / result.seconds);
      measured[at]!.cpu.push(((cpuSecondsOf(variant.pid) - cpu) * 1e6) / result.finished);
    }
  }
  const rates = measured.map((values) => median(values.rates));
  const cpus = measured.map((values) => median(values.cpu));
  const setUp = cpus[2]!;
  printTable(
    `streams: ${burstDeltas} deltas in a burst, ${connections} connections, one core`,
    ['', 'streams/s', 'of node:http', 'CPU µs/stream', 'of that set-up', 'CPU µs/delta'],
    variants.map(({ name }, at) => {
      const isApi = at < 2;
      const perDelta = isApi ? (cpus[at]! - setUp) / (burstDeltas - short.deltas) : cpus[at]! / burstDeltas;
      return [
        name,
        figure(rates[at]!),
        figure(rates[at]! / rates[3]!),
        figure(cpus[at]!),
        isApi ? figure(setUp) : '–',
        at === 2 ? '–' : figure(perDelta),
      ];
    }),
  );
  printNote(`aim: ≤ 5 µs a delta. Others used ${figure(median(others))} cores.`);
}

/** One run of the load generator. */
export function runLoad(load: BenchProcess, input: StreamLoad): Promise<StreamLoadResult> {
  return load.ask<StreamLoadResult>('run', input);
}
