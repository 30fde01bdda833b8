import type { Fault } from '../faults.ts';
import type { Exchange } from '../job-client.ts';
import type { ModelCall } from '../plans/planned-model.ts';

interface Span {
  fromMs: number;
  toMs: number;
}

/** A running API answers; a 503 is only valid while the database is down. */
export function checkExchanges(exchanges: Exchange[], faults: Fault[]): string[] {
  const spans = (target: Fault['target']) =>
    faults.filter((fault) => fault.target === target).map((fault) => outageOf(fault, exchanges));
  const [apiOutages, databaseOutages] = [spans('api'), spans('postgres')];
  return exchanges.flatMap((exchange) => {
    const { what, job, status } = exchange;
    const allowed = status === null ? apiOutages : status === 503 ? databaseOutages : [exchange];
    if (allowed.some((span) => span.fromMs <= exchange.toMs && exchange.fromMs <= span.toMs)) return [];
    const answer = status === null ? 'no answer' : `status ${status}`;
    return [`${what} of job ${job} got ${answer} at ${exchange.fromMs} while the process it needs was up`];
  });
}

/** From the kill to the first good response after the process was back. */
function outageOf(fault: Fault, exchanges: Exchange[]): Span {
  const { atMs, backMs } = fault;
  const good = exchanges.find(
    ({ status, fromMs }) => backMs !== null && fromMs >= backMs && status !== null && status < 300,
  );
  return { fromMs: atMs, toMs: good?.toMs ?? Number.POSITIVE_INFINITY };
}

export interface StoredAnswer {
  job: number;
  step: number;
  /** When its answer was stored. */
  atMs: number;
}

export interface CallsToCheck {
  calls: ModelCall[];
  faults: Fault[];
  startedMs: number;
  /** Jobs with one request from a process that was suspended after its last check. */
  sentLate?: ReadonlySet<number>;
}

/** Processes without which a call in flight cannot finish; the database may return in time. */
const carriers = new Set<Fault['target']>(['worker', 'temporal']);

/** An attempt that a fault made stale may be detected, and restarted, this much later. */
const noticedMs = 15_000;

/**
 * A call whose answer was stored is never repeated, unless its process was suspended between its last check and the
 * request. A call in flight is repeated at most once for each time that a process it needs was hit meanwhile.
 */
export function checkCalls({ calls, faults, startedMs, sentLate }: CallsToCheck, stored: StoredAnswer[]): string[] {
  const violations: string[] = [];
  for (const { job, step, atMs } of stored) {
    const own = calls.filter((call) => call.job === job && call.step === step);
    const paid = own.filter(({ status }) => status === 200);
    const name = `step ${step} of job ${job}`;
    if (paid.length === 0) violations.push(`${name} has an answer that the model never gave`);
    const late = own.filter((call) => call.atMs > atMs);
    if (late.length > (sentLate?.has(job) === true ? 1 : 0))
      violations.push(`${name} was asked for again ${Math.round(late[0]!.atMs - atMs)} ms after its answer was stored`);
    const timesOf = (events: { atMs: number }[]) => events.map(({ atMs }) => (atMs - startedMs) / 1000).join(', ');
    const [first, last] = [paid.at(0)?.atMs ?? 0, paid.at(-1)?.atMs ?? 0];
    const hits = faults.filter(
      ({ target, atMs, backMs }) => carriers.has(target) && atMs <= last && (backMs ?? last) + noticedMs >= first,
    );
    if (paid.length - 1 > hits.length)
      violations.push(
        `${name} was asked for at ${timesOf(paid)} s with ${hits.length} faults meanwhile (${timesOf(hits)} s)`,
      );
  }
  return violations;
}

/** A paid call that was repeated, since its answer was not stored. */
export interface RepeatedCall {
  job: number;
  step: number;
  /** The times of the call and of its repetition. */
  atMs: number;
  againMs: number;
}

/** Answers that were generated and not stored: the cost of the faults. */
export function repeatedCalls(calls: ModelCall[]): RepeatedCall[] {
  const paid = calls.filter(({ status }) => status === 200);
  const ofSteps = Map.groupBy(paid, ({ job, step }) => `${job}/${step}`);
  return [...ofSteps.values()].flatMap((own) =>
    own.slice(1).map(({ job, step, atMs }, index) => ({ job, step, atMs: own[index]!.atMs, againMs: atMs })),
  );
}

/** The model may receive a request of a killed worker this much later. */
const seenLateMs = 1_000;

/**
 * A call is repeated only if its job was hit meanwhile: at most once per hit. A killed worker may have had calls of several
 * jobs in flight, so the number of kills is no bound.
 */
export function checkRepeats(repeated: RepeatedCall[], hitsOf: (job: number) => { atMs: number }[]): string[] {
  const ofJobs = Map.groupBy(repeated, ({ job }) => job);
  const unhit = [...ofJobs].flatMap(([index, own]) => {
    const hits = new Set(hitsOf(index).toSorted((a, b) => a.atMs - b.atMs));
    const inTurn = own.toSorted((a, b) => a.againMs - b.againMs);
    return inTurn.filter(({ atMs, againMs }) => {
      const hit = [...hits].find((one) => one.atMs >= atMs - seenLateMs && one.atMs <= againMs);
      return hit === undefined || !hits.delete(hit);
    });
  });
  return unhit.map(({ job, step }) => `step ${step} of job ${job} was asked for again though no kill had hit the job`);
}
