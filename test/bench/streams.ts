import { findCapacity } from './stream-capacity.ts';
import { cpuSecondsOf, meterLoad } from './support/cpu.ts';
import type { BenchOptions } from './support/options.ts';
import { figure, median, printNote, printTable } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';
import { startStreamTargets } from './support/stream-targets.ts';
import type { StreamTargets } from './support/stream-targets.ts';

const burstDeltas = 200;
const connections = 50;

/** Streams of the assistant through its real route, against node:http writing the same bytes. */
export async function benchStreams(servers: BenchServers, options: BenchOptions): Promise<void> {
  await using targets = await startStreamTargets(servers, options);
  await benchBursts(targets, options);
  await findCapacity(targets, options);
}

async function benchBursts(targets: StreamTargets, options: BenchOptions): Promise<void> {
  const { apiPid, barePid } = targets;
  const burst = { deltas: burstDeltas, everyMs: 0 };
  const short = { deltas: 2, everyMs: 0 };
  const variants = [
    { name: 'v2', pid: apiPid, load: targets.request('v2', burst) },
    { name: 'v1', pid: apiPid, load: targets.request('v1', burst) },
    { name: 'v2, 2 deltas', pid: apiPid, load: targets.request('v2', short) },
    { name: 'node:http, same events as v2', pid: barePid, load: await targets.bareRequest('v2', burst) },
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
      const result = await targets.run({
        ...variant.load,
        streams: connections,
        seconds: options.seconds,
        rampSeconds: 0,
      });
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
