import { benchFirstByte, findCapacity } from './stream-capacity.ts';
import { cpuSecondsOf, meterLoad } from './support/cpu.ts';
import type { BenchOptions } from './support/options.ts';
import { figure, median, printNote, printTable } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';
import { startStreamTargets } from './support/stream-targets.ts';
import type { Protocol, StreamRequest, StreamTargets } from './support/stream-targets.ts';

const burstDeltas = 200;
/** The additional cost of this many deltas gives the cost of one; the rest is the cost of a stream without them. */
const longDeltas = 1_200;
const connections = 50;
/** Five variants take a while. */
const mostRounds = 3;

interface Variant {
  name: string;
  pid: number;
  request: StreamRequest;
}

interface Measured {
  rate: number;
  cpuPerStream: number;
}

/** Streams of the assistant through its real route, compared with node:http writing the same bytes. */
export async function benchStreams(servers: BenchServers, options: BenchOptions): Promise<void> {
  await using targets = await startStreamTargets(servers, options);
  await benchBursts(targets, options);
  await benchFirstByte(targets);
  await findCapacity(targets, options);
}

async function benchBursts(targets: StreamTargets, options: BenchOptions): Promise<void> {
  const ofApi = (protocol: Protocol, deltas: number): Variant => ({
    name: `${protocol}, ${deltas} deltas`,
    pid: targets.apiPid,
    request: targets.request(protocol, { deltas, everyMs: 0 }),
  });
  const bare = {
    name: 'node:http',
    pid: targets.barePid,
    request: await targets.bareRequest('v2', { deltas: burstDeltas, everyMs: 0 }),
  };
  const variants = [
    ofApi('v2', burstDeltas),
    ofApi('v1', burstDeltas),
    bare,
    ofApi('v2', longDeltas),
    ofApi('v1', longDeltas),
  ];
  const { measured, others } = await measureInTurn(targets, variants, options);
  const [v2, v1, http, longV2, longV1] = measured;
  if (v2 === undefined || v1 === undefined || http === undefined) return;
  const row = (name: string, of: Measured, long: Measured | undefined) => {
    const perDelta =
      long === undefined
        ? of.cpuPerStream / burstDeltas
        : (long.cpuPerStream - of.cpuPerStream) / (longDeltas - burstDeltas);
    return [
      name,
      figure(of.rate),
      figure(of.rate / http.rate),
      figure(of.cpuPerStream),
      figure(of.cpuPerStream - burstDeltas * perDelta),
      figure(perDelta),
    ];
  };
  printTable(
    `streams: ${burstDeltas} deltas in a burst, ${connections} connections, one core`,
    ['', 'streams/s', 'of node:http', 'CPU µs/stream', 'without deltas', 'CPU µs/delta'],
    [row('v2', v2, longV2), row('v1', v1, longV1), row('node:http, same events as v2', http, undefined)],
  );
  printNote(`aim: ≤ 5 µs a delta. Others used ${figure(others)} cores.`);
}

async function measureInTurn(
  targets: StreamTargets,
  variants: Variant[],
  { rounds, seconds }: BenchOptions,
): Promise<{ measured: Measured[]; others: number }> {
  const rates = variants.map((): number[] => []);
  const costs = variants.map((): number[] => []);
  const others: number[] = [];
  for (let round = 0; round <= Math.min(rounds, mostRounds); round += 1) {
    // reverses the order in every other round, so that drift affects all variants
    const order = round % 2 === 0 ? [...variants.entries()] : [...variants.entries()].reverse();
    for (const [at, { name, pid, request }] of order) {
      const [meter, cpu] = [meterLoad(), cpuSecondsOf(pid)];
      const load = { ...request, streams: connections, seconds, rampSeconds: 0, isDrained: true };
      const result = await targets.run(load);
      if (result.failed > 0) throw new Error(`${result.failed} streams of ${name} failed: ${result.failure}`);
      if (round === 0) continue; // warm-up
      others.push(meter.others());
      rates[at]?.push(result.finished / result.seconds);
      costs[at]?.push(((cpuSecondsOf(pid) - cpu) * 1e6) / result.finished);
    }
  }
  return {
    measured: variants.map((_, at) => ({ rate: median(rates[at] ?? []), cpuPerStream: median(costs[at] ?? []) })),
    others: median(others),
  };
}
