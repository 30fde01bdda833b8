import { setTimeout as delay } from 'node:timers/promises';
import { readTool, seedOption, wholeNumber } from '../../../lib/inputs/tool-arguments.ts';
import { Client, Connection } from '@temporalio/client';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { startLane, type Lane } from './lane.ts';
import { createRandom } from './plans/random.ts';
import { printEnd } from './report.ts';
import { repositoryFiles, setScene } from './scene.ts';
import { startServers } from './servers/servers.ts';

interface Options {
  creates: number;
  keys: number;
  kills: number;
  seed: number;
}

interface Seen {
  /** Ids that were returned for each key. */
  ids: Map<number, Set<string>>;
  /** How often each key was answered with 201. */
  made: Map<number, number>;
  acknowledged: number;
  tries: Map<string, number>;
  violations: string[];
}

const clients = 32;
const pollMs = 20;
const maxWaitMs = 420_000;

/** Creates jobs repeatedly with the same keys while the API is killed: each key has one job, which runs once. */
export async function runCreatesChaos(args: string[]): Promise<number> {
  const { options } = readTool(
    {
      command: 'npm run chaos -- creates',
      about: 'Kills the API while jobs are created repeatedly with the same keys.',
      options: {
        keys: wholeNumber().default(1_000).describe('different idempotency keys'),
        creates: wholeNumber().optional().describe('requests (default: ten per key)'),
        kills: wholeNumber().default(10).describe('kills of the API'),
        seed: seedOption(),
      },
    },
    args,
  );
  return runCreates({ ...options, creates: options.creates ?? options.keys * 10 });
}

async function runCreates({ creates, keys, kills, seed }: Options): Promise<number> {
  console.log(`creates: ${creates} over ${keys} keys, kills of the API: ${kills}, seed: ${seed}`);
  await using model = await startScriptedModelServer();
  model.respondWith({ text: 'Nothing has to change.' });
  await using servers = await startServers();
  const env = {
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    DOCKET_SELF_REVIEW: 'off',
    OPENAI_COMPATIBLE_API_KEY: 'key-of-the-planned-model',
  };
  await using lane = await startLane({ servers, name: 'chaos', env });
  await using scene = await setScene(lane, [repositoryFiles(0)]);
  const [{ projectId } = { projectId: '' }] = scene.repositories;
  const order = createRandom(seed).shuffled(Array.from({ length: creates }, (_, index) => index % keys));
  const seen: Seen = { ids: new Map(), made: new Map(), acknowledged: 0, tries: new Map(), violations: [] };

  const startedMs = Date.now();
  const create = async () => {
    for (let key = order.pop(); key !== undefined; key = order.pop()) await createOnce(lane, projectId, key, seen);
  };
  const kill = async () => {
    for (let index = 1; index <= kills; index += 1) {
      while (seen.acknowledged < (index * creates) / (kills + 1)) await delay(pollMs);
      const killed = lane.api.kill();
      await killed?.back;
    }
  };
  await Promise.all([...Array.from({ length: clients }, create), kill()]);
  const createdMs = Date.now();
  await untilEnded(lane);

  const violations = [
    ...seen.violations,
    ...(await endProblems(lane, keys, servers.temporalAddress)),
    ...keyProblems(seen),
  ];
  const calls = model.requests.length;
  if (calls !== keys) violations.push(`the model was asked ${calls} times and not ${keys}`);
  const tries = [...seen.tries].map(([status, count]) => `${status}: ${count}`).sort();
  const seconds = (ms: number) => (ms / 1000).toFixed(0);
  console.log(`http     ${tries.join(', ')} in ${seconds(createdMs - startedMs)} s`);
  console.log(`jobs     ${seen.ids.size} of ${keys} keys; all ended after ${seconds(Date.now() - startedMs)} s`);
  return printEnd(violations, seed);
}

/** Repeats the request until the API has answered. */
async function createOnce(lane: Lane, projectId: string, key: number, seen: Seen): Promise<void> {
  const note = (status: string) => seen.tries.set(status, (seen.tries.get(status) ?? 0) + 1);
  const headers = {
    authorization: `Bearer ${lane.adminKey}`,
    'content-type': 'application/json',
    'idempotency-key': `key-${key}`,
  };
  const body = JSON.stringify({ prompt: `Look at note ${key}.`, model: 'compatible/planned' });
  for (;;) {
    try {
      const response = await fetch(`${lane.baseUrl}/v2/agent/${projectId}/job`, { method: 'POST', headers, body });
      note(String(response.status));
      const answer = (await response.json()) as { id: string };
      if (response.ok) {
        seen.acknowledged += 1;
        seen.ids.set(key, (seen.ids.get(key) ?? new Set()).add(answer.id));
        if (response.status === 201) seen.made.set(key, (seen.made.get(key) ?? 0) + 1);
        return;
      }
      seen.violations.push(`a create answers ${response.status}`);
      return;
    } catch {
      note('no answer');
      await delay(pollMs);
    }
  }
}

async function untilEnded({ pool }: Lane): Promise<void> {
  const deadline = Date.now() + maxWaitMs;
  for (;;) {
    const { rows } = await pool.query<{ active: number }>(
      `select count(*)::integer as active from jobs where status = 'active'`,
    );
    if (rows[0]!.active === 0 || Date.now() > deadline) return;
    await delay(250);
  }
}

function keyProblems({ ids, made }: Seen): string[] {
  const many = [...ids].filter(([, found]) => found.size !== 1).map(([key]) => `key ${key} has several jobs`);
  return [...many, ...[...made].filter(([, count]) => count > 1).map(([key]) => `key ${key} was created twice`)];
}

async function endProblems({ pool, namespace }: Lane, keys: number, address: string): Promise<string[]> {
  const { rows } = await pool.query<Record<string, number>>(
    `select count(*)::integer as jobs, count(distinct idempotency_key)::integer as keys,
            count(*) filter (where status = 'completed')::integer as completed,
            (select count(*)::integer from job_steps) as steps,
            (select count(*)::integer from pull_requests) + keys_of_outbox.count as "left"
     from jobs, (select count(*)::integer as count from job_outbox) as keys_of_outbox group by keys_of_outbox.count`,
  );
  const connection = await Connection.connect({ address });
  const { count } = await new Client({ connection, namespace }).workflow.count(`WorkflowType = 'jobWorkflow'`);
  await connection.close();
  const wanted = { jobs: keys, keys, completed: keys, steps: keys, left: 0, executions: keys };
  const found: Record<string, number> = { ...rows[0], executions: count };
  return Object.entries(wanted).flatMap(([name, wish]) =>
    found[name] === wish ? [] : [`there are ${found[name]} ${name} and not ${wish}`],
  );
}
