import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createHoldWatch } from '../../../../lib/threads/hold-watch.ts';

function burn(ms: number): void {
  const before = process.threadCpuUsage();
  const usedMs = () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  while (usedMs() < ms);
}

it('logs and counts what blocks the event loop, with the tasks in flight', async () => {
  const lines: string[] = [];
  const registry = new Registry();
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const holds = createHoldWatch<string>({ log, registers: [registry], prefix: 'docket_test', nameOf: (task) => task });
  const until = new AbortController();
  // the test runner may block the event loop, too, but not for as long as this test does
  const found = (): { level: number; during: string[]; cpuMs: number }[] =>
    lines.map((line) => JSON.parse(line)).filter(({ cpuMs }) => cpuMs >= 400);
  burn(400);
  holds.watch(until.signal);
  holds.watch(until.signal);
  holds.begin('a stream');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(found()).toEqual([]);
  const end = holds.begin('slow');
  burn(450);
  end();
  await expect.poll(() => found()).toEqual([expect.objectContaining({ level: 30, during: ['slow'] })]);
  expect(lines[0]).toContain('the event loop was blocked');
  expect(await registry.metrics()).toMatch(/docket_test_event_loop_hold_seconds_count [1-9]/);

  burn(1_100);
  await expect.poll(() => found()).toEqual([expect.anything(), expect.objectContaining({ level: 40 })]);

  // all that remains for the process is to exit
  until.abort();
  burn(450);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(found()).toHaveLength(2);
});
