import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createHoldWatch } from '../../../../lib/threads/hold-watch.ts';

function burn(ms: number): void {
  const before = process.threadCpuUsage();
  while (process.threadCpuUsage(before).user < ms * 1_000);
}

it('logs and counts what holds the event loop, with the tasks that were under way', async () => {
  const lines: string[] = [];
  const registry = new Registry();
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const holds = createHoldWatch<string>({ log, registers: [registry], prefix: 'docket_test', nameOf: (task) => task });
  using _ = holds.watch();
  holds.begin('a stream');
  await new Promise((resolve) => setTimeout(resolve, 100));
  lines.length = 0;
  registry.resetMetrics();
  const end = holds.begin('slow');
  burn(200);
  end();
  await expect.poll(() => lines.length).toBe(1);
  expect(JSON.parse(lines[0]!)).toMatchObject({ level: 40, msg: 'the event loop was held', during: ['slow'] });
  expect(JSON.parse(lines[0]!).cpuMs).toBeGreaterThan(150);
  expect(await registry.metrics()).toContain('docket_test_event_loop_hold_seconds_count 1');
});
