import { expect, it } from 'vitest';
import { problemsOfHolds, type SentRequest } from '../suites/fuzz/holds.ts';
import type { FuzzRequest } from '../suites/fuzz/requests.ts';

const line = (time: number, cpuMs: number, during = ['/slow']) =>
  `${JSON.stringify({ level: 40, time, during, cpuMs, msg: 'the event loop was blocked' })}\n`;

const requestOf = (path: string): FuzzRequest => ({ method: 'GET', path, headers: {}, body: null, mutation: 'none' });

const sent: SentRequest[] = ['/slow', '/quick', '/earlier'].map((path) => ({
  request: requestOf(path),
  startedMs: path === '/earlier' ? 0 : 1_000,
  endedMs: path === '/earlier' ? 500 : 1_100,
}));

/** Sends a request again; one that blocks the loop alone logs it. */
async function problemsWith(cpuMs: number, holdsAlone: (path: string, attempt: number) => boolean) {
  let log = `{"level":30,"msg":"ready"}\n${line(1_090, cpuMs)}`;
  const asked: string[] = [];
  const problems = await problemsOfHolds({ readLog: () => log, sent, sinceMs: 900 }, async ({ path }) => {
    const attempt = asked.filter((one) => one === path).length;
    asked.push(path);
    if (holdsAlone(path, attempt)) log += line(2_000 + asked.length, 60);
  });
  return { problems, asked: new Set(asked) };
}

it('names the request that blocks the event loop for 60 ms alone, and no other in flight', async () => {
  const { problems, asked } = await problemsWith(60, (path) => path === '/slow');
  expect(problems).toEqual(['GET /slow holds the event loop for 60 ms alone']);
  expect(asked).toEqual(new Set(['/slow', '/quick']));
});

it('tolerates a combined or occasional block of up to 150 ms', async () => {
  expect((await problemsWith(140, () => false)).problems).toEqual([]);
  expect((await problemsWith(140, (_path, attempt) => attempt === 0)).problems).toEqual([]);
  expect((await problemsWith(151, () => false)).problems).toEqual(['the event loop was blocked for 151 ms by /slow']);
});

it('says that a block was beside no request', async () => {
  const log = line(1_090, 160, []);
  expect(await problemsOfHolds({ readLog: () => log, sent: [], sinceMs: 900 }, async () => {})).toEqual([
    'the event loop was blocked for 160 ms while no request was under way',
  ]);
});

it('counts no block that began before the first generated request', async () => {
  expect(await problemsWith(200, () => true)).toEqual({ problems: [], asked: new Set() });
});
