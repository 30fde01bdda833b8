import { readFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { overloaded } from '../../../api/http/errors.ts';
import { createRandom } from '../chaos/plans/random.ts';
import { findCanaries, type Trace } from '../../support/canary-secrets.ts';
import { databaseTraces, fileTraces, gitTraces, temporalTraces } from '../../support/servers/sinks.ts';
import { problemWith, type FuzzAnswer } from './check-answer.ts';
import { readDescription } from './description.ts';
import { exchange } from './exchange.ts';
import { problemsOfHolds, type SentRequest } from './holds.ts';
import { createRequestMaker } from './requests.ts';
import { startFuzzStage, type FuzzStage } from './stage.ts';

const inFlight = 8;
const maxShown = 20;
/** Number of recent requests to remember, among which those that blocked the event loop are searched. */
const maxRemembered = 20_000;
const endPatienceMs = 180_000;
/** When the machine is busy, the API sheds load for a few seconds, and its clients retry. */
const maxTries = 30;

/**
 * Sends generated requests over all routes of a live service: API, worker, PostgreSQL and Temporal as they are in
 * production. No response may be a 5xx, reveal internals, or contradict the OpenAPI description; afterwards no store or
 * log may contain a secret that was sent in a header or an address. Prints its figures and returns the number of
 * problems.
 */
export async function runFuzz({ requests: count, seed }: { requests: number; seed: number }): Promise<number> {
  console.log(`fuzz: requests: ${count}, seed: ${seed}`);
  await using stage = await startFuzzStage();
  const { baseUrl } = stage.lane;
  const description = await readDescription(baseUrl);
  const nextRequest = createRequestMaker(createRandom(seed), description.operations, stage.targets);
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
  const statuses = new Map<number, number>();
  const mutations = new Map<string, number>();
  const problems: string[] = [];
  const sent: SentRequest[] = [];
  const startedMs = Date.now();

  async function send(): Promise<void> {
    const request = nextRequest();
    const startedMs = Date.now();
    const ask = () =>
      exchange(baseUrl, agent, request).catch((error: unknown): FuzzAnswer => ({
        status: 599,
        type: '',
        text: String(error),
        isWhole: false,
      }));
    let answer = await ask();
    for (let again = 0; isBusy(answer) && again < maxTries; again += 1) {
      busy += 1;
      await delay(1_000);
      answer = await ask();
    }
    // of a long run those that took long, which are the ones under way at a hold
    if (sent.length < maxRemembered || Date.now() - startedMs > 100)
      sent.push({ request, startedMs, endedMs: Date.now() });
    increase(statuses, answer.status);
    increase(mutations, request.mutation.split(' ')[0] ?? '');
    stage.targets.known.learn(request.path, answer);
    if (answer.status === 401 && request.headers['cookie'] === stage.targets.cookie) await stage.signIn();
    const problem = problemWith(description, request, answer);
    if (problem === null) return;
    const { method, path, headers, body, mutation } = request;
    const shown = `${method} ${path.slice(0, 200)} ${JSON.stringify(headers).slice(0, 400)} ${body?.toString('utf8').slice(0, 400)}`;
    problems.push(`${problem}: ${mutation}: ${shown} → ${answer.status} ${answer.text.slice(0, 400)}`);
  }

  let busy = 0;
  let left = count;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left > 0 && problems.length < maxShown) {
        left -= 1;
        await send();
      }
    }),
  );
  const seconds = (Date.now() - startedMs) / 1000;
  const readLog = () => readFile(join(stage.servers.home, 'fuzz-api.log'), 'utf8');
  const held = { readLog, sent, sinceMs: startedMs };
  problems.push(...(await problemsOfHolds(held, (request) => exchange(baseUrl, agent, request).catch(() => null))));
  agent.destroy();
  const reached = description.operations.map(({ id }) => id);
  console.log(`operations  ${reached.length}: ${reached.join(', ')}`);
  console.log(`statuses    ${shownCounts(statuses)}`);
  console.log(`busy        ${busy} requests sent again because the process was too busy for another answer`);
  console.log(`mutations   ${shownCounts(mutations)}`);
  console.log(`time        ${seconds.toFixed(1)} s, ${(count / seconds).toFixed(0)} requests a second`);
  problems.push(...(await problemsAfterwards(stage)));
  const expected = [
    ...(count >= 1_000 ? [200, 201, 204, 400, 401, 403, 404, 405] : []),
    ...(count >= 20_000 ? [409, 413, 415] : []),
  ];
  for (const status of expected) if (!statuses.has(status)) problems.push(`the generator never reached ${status}`);
  for (const problem of problems) console.log(`violation: ${problem}`);
  console.log(`violations: ${problems.length} (aim: 0; seed ${seed})`);
  return problems.length;
}

function isBusy({ status, text }: FuzzAnswer): boolean {
  return status === 503 && text === JSON.stringify({ error: overloaded().message });
}

/** Jobs that failed for an unknown reason, errors in the logs, secrets in sinks. */
async function problemsAfterwards({ lane, servers, scene }: FuzzStage): Promise<string[]> {
  const problems: string[] = [];
  const deadline = Date.now() + endPatienceMs;
  // a plan waits for a person's decision, which no request makes
  const activeJobs = async () => {
    const { rows } = await lane.pool.query<{ count: number }>(
      `select count(*)::int as count from jobs where status = 'active' and phase is distinct from 'waiting'`,
    );
    return rows[0]?.count ?? 0;
  };
  while ((await activeJobs()) > 0 && Date.now() < deadline) await delay(500);
  if ((await activeJobs()) > 0) problems.push(`${await activeJobs()} jobs have not ended`);
  const { rows: ends } = await lane.pool.query<{ end: string; count: number }>(
    `select concat_ws(' ', status, failure_category) as end, count(*)::int as count from jobs group by 1 order by 1`,
  );
  console.log(`jobs        ${ends.map(({ end, count }) => `${end}: ${count}`).join(', ')}`);
  problems.push(
    ...ends.filter(({ end }) => /internal|tool_failure/.test(end)).map(({ end, count }) => `${count} jobs are ${end}`),
  );

  const traces: Trace[] = [];
  for await (const trace of databaseTraces(lane.pool)) traces.push(trace);
  const temporal = { address: servers.temporalAddress, namespace: lane.namespace };
  for await (const trace of temporalTraces(temporal)) traces.push(trace);
  for await (const trace of fileTraces(servers.home, ['.log', '.db', '.db-wal'])) traces.push(trace);
  for (const { repository } of scene.repositories) {
    for await (const trace of gitTraces(repository)) traces.push(trace);
  }
  const found = findCanaries(traces);
  console.log(`sinks       ${traces.length} texts searched for canary secrets: ${found.length} found`);
  problems.push(...found.map(({ place, excerpt }) => `a secret in ${place}: ${excerpt}`));
  for (const { place, text } of traces) {
    if (!/file: fuzz-(?:api|worker-\d+)\.log/.test(place)) continue;
    const errors = text.split('\n').filter((line) => /^\{"level":(?:50|60),/.test(line));
    problems.push(...errors.map((line) => `logged as an error in ${place}: ${line.slice(0, 600)}`));
  }
  return problems.slice(0, maxShown);
}

function increase<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function shownCounts<Key>(counts: Map<Key, number>): string {
  const sorted = [...counts].toSorted(([left], [right]) => String(left).localeCompare(String(right)));
  return sorted.map(([key, count]) => `${String(key)}: ${count}`).join(', ');
}
