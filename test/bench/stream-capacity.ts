import type { BenchOptions } from './support/options.ts';
import { cpuSecondsOf, meterLoad } from './support/cpu.ts';
import { figure, printNote, printTable } from './support/report.ts';
import type { StreamLoadResult } from './support/stream-load.ts';
import type { StreamTargets, StreamWish } from './support/stream-targets.ts';

const streamSeconds = 3;
const mostLagMs = 50;
const mostFirstByteMs = 250;

interface Trial extends StreamLoadResult {
  streams: number;
  core: number;
  others: number;
  passed: boolean;
}

/** How many streams a core keeps up with when a model sends a delta every 5 or 20 ms. */
export async function findCapacity(targets: StreamTargets, options: BenchOptions): Promise<void> {
  for (const [everyMs, aim, counts] of [
    [5, 400, options.isQuick ? [400] : [400, 600, 800, 1_000, 500, 300, 200]],
    [20, 400, options.isQuick ? [400] : [800, 1_200, 1_600, 2_000, 1_000, 600, 400]],
  ] as const) {
    const rows: [string, Trial][] = [];
    const wish = { deltas: (streamSeconds * 1_000) / everyMs, everyMs };
    for (const streams of trialsOf(counts, rows)) {
      rows.push([`v2, ${streams} streams`, await runTrial(targets, { streams, api: true, wish })]);
    }
    rows.push([`node:http, ${aim} streams`, await runTrial(targets, { streams: aim, api: false, wish })]);
    printTable(
      `streams: one delta per ${everyMs} ms, each stream ${streamSeconds} s long and followed by the next`,
      ['', 'lag p50', 'lag p99 ms', 'first byte p50', 'p99 ms', 'core used', 'others', ''],
      rows.map(([name, trial]) => [
        name,
        figure(trial.lagP50),
        figure(trial.lagP99),
        figure(trial.firstByteP50),
        figure(trial.firstByteP99),
        figure(trial.core),
        figure(trial.others),
        trial.passed ? 'keeps up' : trial.failed > 0 ? `${trial.failed} failed` : 'too late',
      ]),
    );
    const most = Math.max(
      0,
      ...rows.filter(([name, { passed }]) => name.startsWith('v2') && passed).map(([, { streams }]) => streams),
    );
    printNote(
      `keeps up with ${most}: lag p99 ≤ ${mostLagMs} ms and first byte p99 ≤ ${mostFirstByteMs} ms. ${everyMs === 5 ? 'Aim: ≥ 400.' : ''}`,
    );
  }
}

/** Rising counts until one fails, or falling ones until one passes. */
function* trialsOf(counts: readonly number[], rows: [string, Trial][]): Generator<number> {
  const [first = 0] = counts;
  yield first;
  const isEnough = rows.at(-1)?.[1].passed === true;
  for (const count of counts.slice(1).filter((count) => count > first === isEnough)) {
    yield count;
    if (rows.at(-1)?.[1].passed !== isEnough) return;
  }
}

async function runTrial(
  targets: StreamTargets,
  { streams, api, wish }: { streams: number; api: boolean; wish: StreamWish },
): Promise<Trial> {
  const pid = api ? targets.apiPid : targets.barePid;
  const load = api ? targets.request('v2', wish) : await targets.bareRequest('v2', wish);
  const meter = meterLoad();
  const running = targets.run({ ...load, streams, seconds: streamSeconds, rampSeconds: streamSeconds });
  await new Promise((resolve) => setTimeout(resolve, streamSeconds * 1_000));
  const [cpu, from] = [cpuSecondsOf(pid), performance.now()];
  await new Promise((resolve) => setTimeout(resolve, streamSeconds * 1_000));
  const core = (cpuSecondsOf(pid) - cpu) / ((performance.now() - from) / 1_000);
  const result = await running;
  const passed = result.failed === 0 && result.lagP99 <= mostLagMs && result.firstByteP99 <= mostFirstByteMs;
  return { ...result, streams, core, others: meter.others(), passed };
}
