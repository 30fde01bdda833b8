import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSecondsOf, deniedSecondsOf, meterLoad } from './support/cpu.ts';
import type { BenchOptions } from './support/options.ts';
import { figure, printNote, printTable } from './support/report.ts';
import type { StreamLoadResult } from './support/stream-load.ts';
import type { StreamTargets, StreamWish } from './support/stream-targets.ts';

/** A short answer at 20 ms per delta; the cost of starting a stream weighs more when streams are short. */
const streamSeconds = 5;
const measuredSeconds = 3;
const maxLagMs = 50;
const maxFirstByteMs = 250;
/** Numbers of streams to try: upwards from the first while it keeps up, or downwards until it does. */
const rhythms = [
  { everyMs: 5, first: 400, upwards: [600, 800, 1_000, 1_300], downwards: [300, 200, 100] },
  { everyMs: 20, first: 800, upwards: [1_200, 1_600, 2_000], downwards: [600, 400, 200] },
];

/** Number of streams, at the pace of a real model, beside which the time to first byte is measured. */
const few = { streams: 200, everyMs: 20, maxFirstByteMs: 100, seconds: 15 };

type Rhythm = (typeof rhythms)[number];

interface Trial extends StreamLoadResult {
  name: string;
  streams: number;
  cpuPerDelta: number;
  /** Share of a core that the server used. */
  used: number;
  /** Share of the time in which the server and the load generator were ready to run but others had their core. */
  denied: { server: number; load: number };
  others: number;
}

/** Measures how many streams one core sustains when a model sends a delta at a fixed interval. */
export async function findCapacity(targets: StreamTargets, options: BenchOptions): Promise<void> {
  for (const rhythm of options.isQuick ? rhythms.slice(0, 1) : rhythms) await findCapacityAt(targets, rhythm, options);
}

/** Measures the time to first byte of an answer beside a usual number of streams. */
export async function benchFirstByte(targets: StreamTargets): Promise<void> {
  const { streams, everyMs, maxFirstByteMs, seconds } = few;
  const trial = { streams, seconds, wish: wishAt(everyMs) };
  const trials = [
    await runTrial(targets, { ...trial, isBare: false }),
    await runTrial(targets, { ...trial, isBare: true }),
  ];
  printTrials(`streams: first byte beside ${streams} streams with one delta per ${everyMs} ms`, trials, (of) =>
    of.firstByteP99 <= maxFirstByteMs ? 'in time' : 'too late',
  );
  printNote(`aim: first byte p99 ≤ ${maxFirstByteMs} ms.`);
}

async function findCapacityAt(targets: StreamTargets, rhythm: Rhythm, { isQuick }: BenchOptions): Promise<void> {
  const { everyMs, first, upwards, downwards } = rhythm;
  const wish = wishAt(everyMs);
  const seconds = measuredSeconds;
  const attempt = (streams: number) => runTrial(targets, { streams, seconds, wish, isBare: false });
  const trials = [await attempt(first)];
  const isEnough = keepsUp(trials[0]);
  if (!isQuick) {
    for (const streams of isEnough ? upwards : downwards) {
      trials.push(await attempt(streams));
      if (keepsUp(trials.at(-1)) !== isEnough) break;
    }
  }
  const most = Math.max(0, ...trials.filter(keepsUp).map(({ streams }) => streams));
  trials.push(await runTrial(targets, { streams: first, seconds, wish, isBare: true }));
  printTrials(
    `streams: one delta per ${everyMs} ms, each stream ${streamSeconds} s long and followed by the next`,
    trials,
    (trial) => (keepsUp(trial) ? 'keeps up' : 'too late'),
  );
  printNote(`keeps up with ${most}: lag p99 ≤ ${maxLagMs} ms and first byte p99 ≤ ${maxFirstByteMs} ms.`);
  if (everyMs === 5)
    printNote('aim: ≥ 400. Denied: share of time in which others had the core that server / load generator needed.');
}

function wishAt(everyMs: number): StreamWish {
  return { deltas: (streamSeconds * 1_000) / everyMs, everyMs };
}

function printTrials(title: string, trials: Trial[], verdictOf: (trial: Trial) => string): void {
  printTable(
    title,
    ['', 'lag p50', 'p99 ms', 'first byte p50', 'p99 ms', 'CPU µs/delta', 'core used', 'denied', 'others', ''],
    trials.map((trial) => [
      trial.name,
      figure(trial.lagP50),
      figure(trial.lagP99),
      figure(trial.firstByteP50),
      figure(trial.firstByteP99),
      figure(trial.cpuPerDelta),
      figure(trial.used),
      `${figure(trial.denied.server)} / ${figure(trial.denied.load)}`,
      figure(trial.others),
      trial.failed > 0 ? `${trial.failed} failed` : verdictOf(trial),
    ]),
  );
  const failure = trials.find((trial) => trial.failure !== null)?.failure;
  if (failure !== undefined) printNote(`A stream failed: ${failure}`);
}

function keepsUp(trial: Trial | undefined): boolean {
  return trial !== undefined && trial.failed === 0 && trial.lagP99 <= maxLagMs && trial.firstByteP99 <= maxFirstByteMs;
}

async function runTrial(
  targets: StreamTargets,
  { streams, seconds, wish, isBare }: { streams: number; seconds: number; wish: StreamWish; isBare: boolean },
): Promise<Trial> {
  const pid = isBare ? targets.barePid : targets.apiPid;
  const load = isBare ? await targets.bareRequest('v2', wish) : targets.request('v2', wish);
  const running = targets.run({ ...load, streams, seconds, rampSeconds: streamSeconds });
  await sleep(streamSeconds * 1_000);
  const meter = meterLoad();
  const deniedOf = () => ({ server: deniedSecondsOf(pid), load: deniedSecondsOf(targets.loadPid) });
  const [cpu, denied, from] = [cpuSecondsOf(pid), deniedOf(), performance.now()];
  await sleep(seconds * 1_000);
  const passed = (performance.now() - from) / 1_000;
  const used = cpuSecondsOf(pid) - cpu;
  const deniedAfter = deniedOf();
  const result = await running;
  return {
    ...result,
    name: `${isBare ? 'node:http' : 'v2'}, ${streams} streams`,
    streams,
    cpuPerDelta: (used * 1e6) / result.deltas,
    used: used / passed,
    denied: {
      server: (deniedAfter.server - denied.server) / passed,
      load: (deniedAfter.load - denied.load) / passed,
    },
    others: meter.others(),
  };
}
