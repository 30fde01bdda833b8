import { benchFirstByte, findCapacity } from './stream-capacity.ts';
import { cpuSecondsOf, meterLoad } from './support/cpu.ts';
import type { BenchOptions } from './support/options.ts';
import { figure, median, printNote, printTable } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';
import { startStreamTargets } from './support/stream-targets.ts';
import type { Protocol, StreamRequest, StreamTargets } from './support/stream-targets.ts';

const burstDeltas = 200;
/** A short answer costs what starting a stream does; what a long one costs beyond it are the deltas. */
const shortDeltas = 4;
const longDeltas = 1_200;
const connections = 50;
/** The first streams run code that is not compiled yet. */
const warmUpSeconds = 5;
/** Seven variants take a while. */
const maxRounds = 3;

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
    ofApi('v2', shortDeltas),
    ofApi('v1', shortDeltas),
    ofApi('v2', longDeltas),
    ofApi('v1', longDeltas),
  ];
  const { measured, others } = await measureInTurn(targets, variants, options);
  const [v2, v1, http, shortV2, shortV1, longV2, longV1] = measured;
  if (v2 === undefined || v1 === undefined || http === undefined) return;
  const row = (name: string, of: Measured, short?: Measured, long?: Measured) => [
    name,
    figure(of.rate),
    figure(of.rate / http.rate),
    figure(of.cpuPerStream),
    ...(short === undefined || long === undefined ? ['', ''] : partsOf(short, long)),
  ];
  printTable(
    `streams: ${burstDeltas} deltas in a burst, ${connections} connections, one core`,
    ['', 'streams/s', 'of node:http', 'CPU µs/stream', 'without deltas', 'CPU µs/delta'],
    [row('v2', v2, shortV2, longV2), row('v1', v1, shortV1, longV1), row('node:http, same events as v2', http)],
  );
  printNote(`aim: ≤ 1,500 µs without deltas, ≤ 5 µs a delta. Others used ${figure(others)} cores.`);
}

/** Splits the cost of a stream into that of its start and that of one delta. */
function partsOf(short: Measured, long: Measured): string[] {
  const perDelta = (long.cpuPerStream - short.cpuPerStream) / (longDeltas - shortDeltas);
  return [figure(short.cpuPerStream - shortDeltas * perDelta), figure(perDelta)];
}

async function measureInTurn(
  targets: StreamTargets,
  variants: Variant[],
  { rounds, seconds }: BenchOptions,
): Promise<{ measured: Measured[]; others: number }> {
  const rates = variants.map((): number[] => []);
  const costs = variants.map((): number[] => []);
  const others: number[] = [];
  for (let round = 0; round <= Math.min(rounds, maxRounds); round += 1) {
    // reverses the order in every other round, so that drift affects all variants
    const order = round % 2 === 0 ? [...variants.entries()] : [...variants.entries()].reverse();
    for (const [at, { name, pid, request }] of order) {
      const [meter, cpu] = [meterLoad(), cpuSecondsOf(pid)];
      const isWarmUp = round === 0;
      const load = { ...request, streams: connections, rampSeconds: 0, isDrained: true };
      const result = await targets.run({ ...load, seconds: isWarmUp ? warmUpSeconds : seconds });
      if (result.failed > 0) throw new Error(`${result.failed} streams of ${name} failed: ${result.failure}`);
      if (isWarmUp) continue;
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
