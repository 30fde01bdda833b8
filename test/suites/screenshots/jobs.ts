import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { answerOf, createApi, type Api } from '../../../cli/http/api.ts';
import type {
  ScriptedModelServer,
  ScriptedReply,
  ScriptedToolCall,
} from '../../support/servers/scripted-model-server.ts';
import type { TestStack } from '../../support/stack/stack.ts';

/** The stack, its model and its database. */
export interface Stage {
  stack: TestStack;
  api: Api;
  model: ScriptedModelServer;
  pool: pg.Pool;
}

interface NewJob {
  /** Default: the sample project. */
  projectId?: string;
  prompt: string;
  ref?: string;
  plan?: 'review';
  ask?: boolean;
  replies: ScriptedReply[];
  /** What the job ends with, or the phase that it stays in. */
  until?: 'completed' | 'failed' | 'waiting' | 'running';
}

const usage = { inputTokens: 18_240, outputTokens: 611 };

/** One step of the agent: what it says, and the tools that it calls. */
export function step(text: string, ...toolCalls: ScriptedToolCall[]): ScriptedReply {
  return { text, toolCalls, usage };
}

/** The last step of the agent. */
export function finish(title: string, summary: string, more: object = {}): ScriptedReply {
  return { toolCalls: [{ name: 'finish', input: { title, summary, ...more } }], usage };
}

export const read = (path: string): ScriptedToolCall => ({ name: 'read', input: { path } });
export const write = (path: string, content: string): ScriptedToolCall => ({ name: 'write', input: { path, content } });
export const edit = (path: string, old: string, replacement: string): ScriptedToolCall => ({
  name: 'edit',
  input: { path, old, new: replacement },
});
export const run = (command: string, seconds = 120): ScriptedToolCall => ({ name: 'run', input: { command, seconds } });

async function stateOf({ stack, api }: Stage, id: string, projectId = stack.localJson.projectId) {
  const path = { projectId, id };
  return answerOf(api.GET('/v2/agent/{projectId}/job/{id}', { params: { path } }));
}

/** Resolves when a job has this status or phase. */
export async function untilJob(stage: Stage, id: string, wanted: string, projectId?: string) {
  for (;;) {
    const job = await stateOf(stage, id, projectId);
    if (job.status === wanted || job.details.phase === wanted) return job;
    if (job.status !== 'active') throw new Error(`${id} is ${job.status}: ${job.details.failure?.title}`);
    await delay(300);
  }
}

/** Starts a job whose agent says what is given, and returns it once it is as wanted. */
export async function startSampleJob(stage: Stage, job: NewJob) {
  const { stack, api, model } = stage;
  const { projectId = stack.localJson.projectId, replies, until = 'completed', prompt, ref, ...more } = job;
  model.script(...replies);
  const body = { prompt, ...more, ...(ref === undefined ? {} : { source: { ref } }) };
  const { id } = await answerOf(api.POST('/v2/agent/{projectId}/job', { params: { path: { projectId } }, body }));
  return untilJob(stage, id, until, projectId);
}

/** Resolves when the model has answered a step of a job. */
export async function untilStep({ pool }: Stage, id: string, number: number): Promise<void> {
  const answered = 'select from job_steps where job_id = $1 and step = $2 and answered_at is not null';
  while ((await pool.query(answered, [id, number])).rowCount === 0) await delay(300);
}

/** Sends a message to an ended job, and returns the job when it has ended again. */
export async function sendMessage(stage: Stage, id: string, prompt: string, replies: ScriptedReply[]) {
  stage.model.script(...replies);
  const params = { path: { projectId: stage.stack.localJson.projectId, id } };
  await answerOf(stage.api.POST('/v2/agent/{projectId}/job/{id}/message', { params, body: { prompt } }));
  return untilJob(stage, id, 'completed');
}

/** Creates a client of the stack's API for its administrator. */
export function apiOf({ localJson: { baseUrl, adminKey } }: TestStack): Api {
  return createApi({ baseUrl, key: adminKey });
}
