import { setTimeout as sleep } from 'node:timers/promises';
import { meterLoad } from './support/cpu.ts';
import type { BenchOptions } from './support/options.ts';
import { openRaw } from './support/raw-connection.ts';
import { figure, printNote, printTable, quantile } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';
import { startStreamTargets } from './support/stream-targets.ts';
import type { StreamRequest, StreamTargets } from './support/stream-targets.ts';

const maxWaitMs = 10_000;
const endless = { deltas: 100_000, everyMs: 20 };

/** Measures how soon the model call ends after its reader disconnects in the middle of an answer. */
export async function benchLeave(servers: BenchServers, options: BenchOptions): Promise<void> {
  await using targets = await startStreamTargets(servers, options);
  const meter = meterLoad();
  const times: number[] = [];
  for (let reader = 0; reader < (options.isQuick ? 30 : 200); reader += 1) {
    const leftAt = await readAndLeave(targets.request(reader % 2 === 0 ? 'v1' : 'v2', endless));
    times.push((await abortOf(targets, reader)) - leftAt);
  }
  printTable(
    'leave: from a reader who closes the connection to the end of the call of the model',
    ['readers', 'p50 ms', 'p99 ms', 'slowest ms', 'others'],
    [
      [
        times.length,
        figure(quantile(times, 0.5)),
        figure(quantile(times, 0.99)),
        figure(Math.max(...times)),
        figure(meter.others()),
      ],
    ],
  );
  printNote('aim: ≤ 100 ms.');
}

/** Leaves after the first word; resolves with the time, in milliseconds since the epoch. */
function readAndLeave({ port, request }: StreamRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = openRaw(port, {
      onData(bytes) {
        text += bytes.toString('latin1');
        if (!/"text-delta"|\n0:/.test(text)) return;
        const leftAt = performance.timeOrigin + performance.now();
        socket.destroy();
        resolve(leftAt);
      },
      onEnd: () => reject(new Error('The stream ended before its first word.')),
    });
    socket.write(request);
  });
}

async function abortOf(targets: StreamTargets, number: number): Promise<number> {
  const deadline = Date.now() + maxWaitMs;
  while (Date.now() < deadline) {
    const at = (await targets.abortedAt())[number];
    if (at !== undefined) return at;
    await sleep(10);
  }
  throw new Error(`The model was not told within ${maxWaitMs / 1_000} s that its reader left.`);
}
