import { setTimeout as delay } from 'node:timers/promises';
import { readTool, seedOption, wholeNumber } from '../../../lib/inputs/tool-arguments.ts';
import type { ScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import type { TestStack } from '../../support/stack/stack.ts';
import { onPlannedStack } from './plans/planned-stack.ts';
import { createRandom, type Random } from './plans/random.ts';
import { planReplies, type ReplyPlan } from './plans/reply-plans.ts';
import { readReply, type ReplyResult, type ReplyService } from './reply-reader.ts';

interface Options {
  runs: number;
  kills: number;
  atOnce: number;
  hangSeconds: number;
  seed: number;
}

const killPatienceMs = 20_000;
/** After the last reader has left, a recorded reply may continue for this long; any other ends at once. */
const modelPatienceMs = 30_000;

/**
 * Asks `--runs` questions of a stack of real processes: readers are cut off at random bytes, the API is killed (`--kills`),
 * the model fails, stalls or ends early. Each reply ends in a finish or an error, or can be resumed; none hangs, loses or
 * duplicates a word. Returns the number of violations.
 */
export function runRepliesChaos(args: string[]): Promise<number> {
  const options = readOptions(args);
  const { runs, kills, atOnce, seed } = options;
  console.log(`replies: ${runs}, at once: ${atOnce}, kills of the API: ${kills}, seed: ${seed}`);
  return onPlannedStack({
    env: {
      DOCKET_ASSISTANT_MODEL: 'compatible/planned',
      DOCKET_ASSISTANT_PER_HOUR: '1000000',
      DOCKET_ASSISTANT_PER_IP_PER_DAY: '1000000',
    },
    seed,
    run: (stack, model) => runOn(stack, model, options),
  });
}

function readOptions(args: string[]): Options {
  const { options } = readTool(
    {
      command: 'npm run chaos -- replies',
      about: 'Cuts off readers of answers and kills the API.',
      options: {
        runs: wholeNumber().default(100).describe('questions to ask'),
        kills: wholeNumber().optional().describe('kills of the API (default: one per 25 questions)'),
        'at-once': wholeNumber().default(12).describe('readers at once'),
        'hang-seconds': wholeNumber().default(30).describe('seconds after which a reply counts as hanging'),
        seed: seedOption(),
      },
    },
    args,
  );
  const { runs, kills = Math.ceil(runs / 25), 'at-once': atOnce, 'hang-seconds': hangSeconds, seed } = options;
  return { runs, kills, atOnce, hangSeconds, seed };
}

async function runOn(stack: TestStack, model: ScriptedModelServer, options: Options): Promise<string[]> {
  const random = createRandom(options.seed);
  const plans = planReplies(options.runs, random.fork(1));
  const open = playReplies(model, plans);
  const results: ReplyResult[] = [];
  const problems: string[] = [];
  let begun = 0;
  let ended = 0;
  const { baseUrl, domain, assistantKey } = stack.localJson;
  const service: ReplyService = {
    baseUrl,
    domain,
    assistantKey,
    killsBegun: () => begun,
    killsEnded: () => ended,
    hangMs: options.hangSeconds * 1000,
  };
  const waiting = [...plans];
  const startedMs = Date.now();

  async function readOn(): Promise<void> {
    for (let plan = waiting.shift(); plan !== undefined; plan = waiting.shift()) {
      try {
        results.push(await readReply(service, plan));
      } catch (error) {
        problems.push(`reply ${plan.index}: ${String(error)}`);
      }
    }
  }

  const readers = Promise.all(Array.from({ length: options.atOnce }, readOn));
  const kills = killApi({
    random: random.fork(2),
    kills: options.kills,
    progress: () => (results.length + problems.length) / plans.length,
    async kill() {
      begun += 1;
      await stack.killAndWait('api');
      ended += 1;
    },
  });
  await Promise.all([readers, kills]);
  printReport(results, { seconds: (Date.now() - startedMs) / 1000, kills: begun });
  const left = await Promise.race([Promise.all(open).then(() => null), delay(modelPatienceMs, 'left')]);
  if (left !== null) problems.push('a model call continues without a reader');
  return [
    ...problems,
    ...model.violations.map((text) => `the model server: ${text}`),
    ...results.flatMap(({ plan, ending, violations }) =>
      violations.map((text) => `${describe(plan)}, ${ending}: ${text}`),
    ),
  ];
}

/** Makes the server answer according to the plans. Returns the ends of its exchanges. */
function playReplies(model: ScriptedModelServer, plans: ReplyPlan[]): Promise<unknown>[] {
  const byMarker = new Map(plans.map((plan) => [plan.marker, plan]));
  const open: Promise<unknown>[] = [];
  model.respondWith((request) => {
    open.push(request.closed);
    const marker = /question-\d+-end/.exec(JSON.stringify(request.body.messages.at(-1)))?.[0] ?? '';
    const plan = byMarker.get(marker);
    if (plan === undefined) throw new Error('A request belongs to no question.');
    return plan.reply;
  });
  return open;
}

/** Kills the API throughout the run, each time after it is back. */
async function killApi({
  random,
  kills,
  progress,
  kill,
}: {
  random: Random;
  kills: number;
  progress(): number;
  /** Resolves when it serves again. */
  kill(): Promise<void>;
}): Promise<void> {
  for (let index = 0; index < kills; index += 1) {
    const deadline = Date.now() + killPatienceMs;
    while (progress() < (index + random.next()) / (kills + 0.5) && progress() < 1 && Date.now() < deadline)
      await delay(20);
    if (progress() >= 1) return;
    await delay(random.between(0, 300));
    await kill();
  }
}

function describe({ index, protocol, behaviour, isResumable, cuts }: ReplyPlan): string {
  return `reply ${index} (${protocol}, model: ${behaviour}${isResumable ? ', resumable' : ''}, cuts at ${cuts.join(', ') || 'none'})`;
}

function printReport(results: ReplyResult[], { seconds, kills }: { seconds: number; kills: number }): void {
  const endings = Map.groupBy(results, ({ plan, ending }) => `${plan.behaviour} → ${ending}`);
  for (const [name, { length }] of [...endings].sort()) console.log(`${String(length).padStart(6)}  ${name}`);
  const silence = Math.max(0, ...results.map(({ maxSilenceMs }) => maxSilenceMs));
  const resumed = results.filter(({ resumes }) => resumes > 0);
  const hit = results.filter(({ wasKilled }) => wasKilled);
  console.log(
    `replies  ${results.length} in ${seconds.toFixed(1)} s; ${resumed.length} resumed, ${hit.length} while the API was killed (${kills} kills)`,
  );
  console.log(`silence  ${(silence / 1000).toFixed(1)} s at most`);
}
