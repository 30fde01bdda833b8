import type { RecordedRequest, ScriptedModelServer, ScriptedReply } from '../support/scripted-model-server.ts';
import type { JobPlan } from './job-plans.ts';

/** One request that the model server got. */
export interface ModelCall {
  job: number;
  /** From 1. */
  step: number;
  atMs: number;
  /** What it was answered with. */
  status: number;
}

/** Lets the server answer as the plans say; what it answers depends on the transcript it is sent. Answers the calls so far. */
export function playPlans(model: ScriptedModelServer, plans: JobPlan[]): ModelCall[] {
  const calls: ModelCall[] = [];
  model.respondWith((request) => {
    const plan = plans.find(({ marker }) => JSON.stringify(promptOf(request)).includes(marker));
    if (plan === undefined) throw new Error('A request belongs to no job.');
    const step = request.body.messages.filter(({ role }) => role === 'assistant').length + 1;
    const planned = plan.steps[step - 1];
    if (planned === undefined) throw new Error(`Job ${plan.index} asks for step ${step}, which it does not have.`);
    const isFirst = !calls.some((call) => call.job === plan.index && call.step === step);
    const isTrouble = planned.trouble !== null && (isFirst || planned.trouble.isFinal);
    const status = isTrouble ? planned.trouble!.status : 200;
    calls.push({ job: plan.index, step, atMs: Date.now(), status });
    const said = planned.calls.length === 0 ? { text: 'Nothing has to change.' } : { toolCalls: planned.calls };
    const reply: ScriptedReply = isTrouble ? { status } : said;
    return { ...reply, delayMs: planned.thinkMs };
  });
  return calls;
}

function promptOf({ body }: RecordedRequest): unknown {
  return body.messages.find(({ role }) => role === 'user')?.content;
}
