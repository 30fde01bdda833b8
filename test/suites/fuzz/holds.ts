import { setTimeout as delay } from 'node:timers/promises';
import type { FuzzRequest } from './requests.ts';

/** A line of the API's log: its event loop was blocked for more than 50 ms of CPU time. */
export interface Hold {
  /** When it was seen, in milliseconds. */
  time: number;
  cpuMs: number;
  during: string[];
}

export interface SentRequest {
  request: FuzzRequest;
  startedMs: number;
  endedMs: number;
}

/** Concurrent requests and a garbage collection can add up to this; a longer block is a failure. */
const maxTogetherMs = 150;
const tries = 3;
const maxTried = 100;
const settleMs = 50;

/** Returns the blocks of the event loop in the API's log. */
export function readHolds(log: string): Hold[] {
  return log.split('\n').flatMap((line) => (line.includes('"the event loop was blocked"') ? [JSON.parse(line)] : []));
}

/** Returns the requests in flight during the blocks, each once, the longest block first. */
export function suspectsOf(holds: Hold[], sent: SentRequest[]): SentRequest[] {
  const found = new Set<SentRequest>();
  for (const { time, cpuMs } of holds.toSorted((left, right) => right.cpuMs - left.cpuMs))
    for (const one of sent) if (one.startedMs <= time && one.endedMs >= time - cpuMs - settleMs) found.add(one);
  return [...found].slice(0, maxTried);
}

/**
 * Finds requests that block the event loop for more than 50 ms. Eight concurrent requests may block it together, so
 * each request in flight is sent again alone, and is reported if it blocks the loop in most tries. Blocks before
 * `sinceMs` do not count, because a process that has just started loads code for its first job, stream or description.
 */
export async function problemsOfHolds(
  { readLog, sent, sinceMs }: { readLog: () => string | Promise<string>; sent: SentRequest[]; sinceMs: number },
  send: (request: FuzzRequest) => Promise<unknown>,
): Promise<string[]> {
  const holds = readHolds(await readLog()).filter(({ time, cpuMs }) => time - cpuMs >= sinceMs);
  const longest = Math.max(0, ...holds.map(({ cpuMs }) => cpuMs));
  console.log(`event loop  held ${holds.length} times for more than 50 ms, ${longest} ms at most`);
  const problems = holds
    .filter(({ cpuMs }) => cpuMs > maxTogetherMs)
    .map(({ cpuMs, during }) => {
      const cause = during.length === 0 ? 'while no request was under way' : `by ${during.join(' or ')}`;
      return `the event loop was blocked for ${cpuMs} ms ${cause}`;
    });
  for (const { request } of suspectsOf(holds, sent)) {
    let heldMs = 0;
    let count = 0;
    for (let attempt = 0; attempt < tries; attempt += 1) {
      const before = readHolds(await readLog()).length;
      await send(request);
      await delay(settleMs);
      const alone = readHolds(await readLog()).slice(before);
      if (alone.length > 0) count += 1;
      heldMs = Math.max(heldMs, ...alone.map(({ cpuMs }) => cpuMs));
    }
    if (count * 2 > tries)
      problems.push(`${request.method} ${request.path.slice(0, 200)} holds the event loop for ${heldMs} ms alone`);
  }
  return problems;
}
