import type {
  RecordedRequest,
  ScriptedModelServer,
  ScriptedReply,
} from '../../../support/servers/scripted-model-server.ts';
import type { JobPlan } from './job-plans.ts';

/** One request that the model server received. */
export interface ModelCall {
  job: number;
  /** From 1. */
  step: number;
  atMs: number;
  /** The response to it. */
  status: number;
}

export interface PlannedModel {
  /** The calls so far. */
  calls: ModelCall[];
  /** Resolves when the model receives the next call. */
  nextCall(): Promise<void>;
  /** Resolves when the next reply was sent: it is about to be stored, and tools are about to run. */
  nextReply(): Promise<void>;
}

/** Makes the server answer according to the plans; its answer depends on the transcript it receives. */
export function playPlans(model: ScriptedModelServer, plans: JobPlan[]): PlannedModel {
  const calls: ModelCall[] = [];
  let waiting: (() => void)[] = [];
  let waitingForCall: (() => void)[] = [];

  async function tellReply({ closed }: RecordedRequest): Promise<void> {
    if ((await closed) !== 'complete') return;
    for (const wake of waiting) wake();
    waiting = [];
  }

  model.respondWith((request) => {
    const plan = plans.find(({ marker }) => JSON.stringify(promptOf(request)).includes(marker));
    if (plan === undefined) throw new Error('A request belongs to no job.');
    const step = request.body.messages.filter(({ role }) => role === 'assistant').length + 1;
    if (plan.reply !== undefined) {
      const reply = plan.reply(step);
      calls.push({ job: plan.index, step, atMs: Date.now(), status: reply.status ?? 200 });
      return reply;
    }
    const planned = plan.steps[step - 1];
    if (planned === undefined) throw new Error(`Job ${plan.index} asks for step ${step}, which it does not have.`);
    const isFirst = !calls.some((call) => call.job === plan.index && call.step === step);
    const isTrouble = planned.trouble !== null && (isFirst || planned.trouble.isFinal);
    const status = isTrouble ? planned.trouble!.status : 200;
    calls.push({ job: plan.index, step, atMs: Date.now(), status });
    void tellReply(request);
    for (const wake of waitingForCall) wake();
    waitingForCall = [];
    const said = planned.calls.length === 0 ? { text: 'Nothing has to change.' } : { toolCalls: planned.calls };
    const reply: ScriptedReply = isTrouble ? { status } : said;
    return { ...reply, delayMs: planned.thinkMs };
  });
  return {
    calls,
    nextCall: () => new Promise((resolve) => waitingForCall.push(resolve)),
    nextReply: () => new Promise((resolve) => waiting.push(resolve)),
  };
}

function promptOf({ body }: RecordedRequest): unknown {
  return body.messages.find(({ role }) => role === 'user')?.content;
}
