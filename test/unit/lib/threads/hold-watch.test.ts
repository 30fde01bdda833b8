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
  burn(100);
  holds.watch(until.signal);
  holds.watch(until.signal);
  holds.begin('a stream');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(lines).toEqual([]);
  const end = holds.begin('slow');
  burn(200);
  end();
  await expect.poll(() => lines.length).toBe(1);
  expect(JSON.parse(lines[0]!)).toMatchObject({ level: 30, msg: 'the event loop was blocked', during: ['slow'] });
  expect(JSON.parse(lines[0]!).cpuMs).toBeGreaterThan(150);
  expect(await registry.metrics()).toContain('docket_test_event_loop_hold_seconds_count 1');

  burn(1_100);
  await expect.poll(() => lines.length).toBe(2);
  expect(JSON.parse(lines[1]!)).toMatchObject({ level: 40 });

  // all that remains for the process is to exit
  until.abort();
  burn(200);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(lines).toHaveLength(2);
});
