import { setTimeout as delay } from 'node:timers/promises';
import type { FuzzRequest } from './requests.ts';

/** A line of the API's log: what held its event loop for more than 50 ms, in processor time. */
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

/** Requests that are under way together, and a collection of garbage, can add up to this; no more than that is excused. */
const maxTogetherMs = 150;
const tries = 3;
const maxTried = 100;
const settleMs = 50;

/** The holds of the API's log. */
export function readHolds(log: string): Hold[] {
  return log.split('\n').flatMap((line) => (line.includes('"the event loop was blocked"') ? [JSON.parse(line)] : []));
}

/** The requests that were under way while one of the holds lasted, each once, the longest hold first. */
export function suspectsOf(holds: Hold[], sent: SentRequest[]): SentRequest[] {
  const found = new Set<SentRequest>();
  for (const { time, cpuMs } of holds.toSorted((left, right) => right.cpuMs - left.cpuMs))
    for (const one of sent) if (one.startedMs <= time && one.endedMs >= time - cpuMs - settleMs) found.add(one);
  return [...found].slice(0, maxTried);
}

/**
 * Finds requests that hold the event loop for more than 50 ms. Eight at once can together, so each that was under way is
 * sent again, alone: it is guilty when it holds the loop then too, in most of its tries. Holds that began before
 * `sinceMs` do not count: a process that has just started loads what the first job, stream or description needs.
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
