import { EventEmitter } from 'node:events';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { AppContext } from '../../../api/app-context.ts';
import { createLoopHolds } from '../../../api/loop-holds.ts';

function contextOf(route: string): AppContext {
  return {
    res: new EventEmitter(),
    routerPath: route,
    _matchedRoute: route,
    state: {},
    method: 'GET',
  } as unknown as AppContext;
}

function burn(ms: number): void {
  const before = process.threadCpuUsage();
  while (process.threadCpuUsage(before).user < ms * 1_000);
}

it('logs and counts what holds the event loop, with the routes that were under way', async () => {
  const lines: string[] = [];
  const holds: number[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const loopHolds = createLoopHolds({ log, metrics: { observeHold: (seconds) => holds.push(seconds) } });
  using _ = loopHolds.watch();
  const stream = contextOf('/v1/jobs/events');
  await loopHolds.note(stream, () => Promise.resolve());
  await new Promise((resolve) => setTimeout(resolve, 100));
  holds.length = 0;
  lines.length = 0;
  const slow = contextOf('/v1/slow');
  await loopHolds.note(slow, async () => burn(200));
  slow.res.emit('close');
  await expect.poll(() => holds.length).toBe(1);
  expect(holds[0]).toBeGreaterThan(0.15);
  expect(JSON.parse(lines[0]!)).toMatchObject({ level: 40, msg: 'the event loop was held', routes: ['/v1/slow'] });
});
