import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createLoopBlockWatch } from '../../../lib/threads/loop-block-watch.ts';

/**
 * Replaces the clock. The returned function simulates a computation of that many milliseconds, which delays all timers.
 */
function fakeClock(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  vi.spyOn(process, 'threadCpuUsage').mockImplementation((since) => ({
    user: nowMs * 1_000 - (since?.user ?? 0),
    system: 0,
  }));
  onTestFinished(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
  return (ms) => {
    nowMs += ms;
    vi.advanceTimersByTime(10);
  };
}

it('logs and counts what blocks the event loop, with the tasks in flight', async () => {
  const compute = fakeClock();
  const lines: string[] = [];
  const registry = new Registry();
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const blocks = createLoopBlockWatch<string>({
    log,
    registers: [registry],
    prefix: 'docket_test',
    nameOf: (task) => task,
  });
  const until = new AbortController();
  const found = (): unknown[] => lines.map((line) => JSON.parse(line));
  compute(400);
  blocks.watch(until.signal);
  blocks.watch(until.signal);
  blocks.start('a stream');
  compute(50);
  expect(found()).toEqual([]);
  const end = blocks.start('slow');
  end();
  compute(51);
  const first = { level: 30, cpuMs: 51, during: ['slow'], msg: 'the event loop was blocked' };
  expect(found()).toEqual([expect.objectContaining(first)]);
  expect(await registry.metrics()).toContain('docket_test_event_loop_hold_seconds_count 1');

  compute(1_000);
  expect(found()).toEqual([
    expect.objectContaining(first),
    expect.objectContaining({ level: 40, cpuMs: 1_000, during: ['a stream'] }),
  ]);

  // all that remains for the process is to exit
  until.abort();
  compute(450);
  expect(found()).toHaveLength(2);
});
