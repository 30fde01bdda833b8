import { repeatedCalls } from './checks/check-traffic.ts';
import type { JobRun } from './job-run.ts';

/** Prints the faults and what they cost. */
export function printReport(run: JobRun): void {
  const { startedMs, calls, faults } = run;
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  for (const { kind, target, pid, atMs, backMs } of faults) {
    const next = calls.find((call) => call.atMs > atMs);
    const back = backMs === null ? 'never back' : `back after ${seconds(backMs - atMs)} s`;
    const went = next === undefined ? 'no further call of the model' : `next call after ${seconds(next.atMs - atMs)} s`;
    console.log(`${seconds(atMs - startedMs).padStart(7)} s  ${kind} ${target} (${pid}): ${back}, ${went}`);
  }
  printTraffic(run);
}

/** Prints the results of the jobs, and the calls of the model and the API. */
export function printTraffic({ startedMs, endedMs, plans, calls, faults, client }: JobRun): void {
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  const answers = Map.groupBy(client.exchanges, ({ what, status }) => `${what} ${status ?? 'without an answer'}`);
  const traffic = [...answers].map(([name, { length }]) => `${name}: ${length}`).sort();
  const ends = Map.groupBy(client.jobs.values(), ({ status, prLink }) =>
    status === 'completed' && prLink !== null ? 'published' : status,
  );
  const endings = [...ends].map(([name, { length }]) => `${name}: ${length}`);
  console.log(`jobs     ${plans.length} in ${seconds(endedMs - startedMs)} s; ${endings.join(', ')}`);
  console.log(`model    ${calls.length} calls, ${repeatedCalls(calls).length} of them again, ${faults.length} faults`);
  console.log(`http     ${traffic.join(', ')}`);
}

/** Prints the violations; returns their number. */
export function printEnd(violations: string[], seed: number): number {
  for (const violation of violations) console.log(`violation: ${violation}`);
  console.log(`violations: ${violations.length} (aim: 0; seed ${seed})`);
  return violations.length;
}
