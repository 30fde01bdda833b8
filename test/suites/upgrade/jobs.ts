import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { RecordedRequest } from '../../support/servers/scripted-model-server.ts';
import type { ScriptedReply } from '../../support/servers/scripted-model-wire.ts';

const jobSchema = z.object({ id: z.string(), status: z.string(), prLink: z.string().nullable() });
export type Job = z.infer<typeof jobSchema>;

/** A client of the HTTP API, as it is in every release. */
export interface JobClient {
  create(prompt: string): Promise<string>;
  get(id: string): Promise<Job>;
  message(id: string, prompt: string): Promise<void>;
  /** Waits until the job is no longer active. */
  ended(id: string): Promise<Job>;
}

export function createJobClient(baseUrl: string, { projectId, key }: { projectId: string; key: string }): JobClient {
  async function ask(path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${baseUrl}/v2/agent/${projectId}/job${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answers ${response.status}: ${text}`);
    return JSON.parse(text);
  }

  const get = async (id: string) => jobSchema.parse(await ask(`/${id}`));
  return {
    get,
    create: async (prompt) => jobSchema.parse(await ask('', { prompt })).id,
    async message(id, prompt) {
      await ask(`/${id}/message`, { prompt });
    },
    async ended(id) {
      for (let left = 1_200; left > 0; left -= 1) {
        const job = await get(id);
        if (job.status !== 'active') return job;
        await delay(100);
      }
      throw new Error(`The job ${id} does not end.`);
    },
  };
}

/** What a request to the model is about. A turn writes one file a step, and its prompt says how many. */
export interface Asked {
  steps: number;
  step: number;
  /** Requests of one conversation are those of one job. */
  messages: number;
}

const promptPattern = /Write (\d+) times/;

export const promptOf = (steps: number) => `Write ${steps} times`;

export function askedBy({ body: { messages } }: RecordedRequest): Asked {
  const texts = messages.map(({ role, content }) => (role === 'user' ? JSON.stringify(content) : ''));
  const begin = texts.findLastIndex((text) => promptPattern.test(text));
  const steps = Number(promptPattern.exec(texts[begin] ?? '')?.[1]);
  const step = messages.slice(begin).filter(({ role }) => role === 'assistant').length + 1;
  return { steps, step, messages: messages.length };
}

export function replyTo({ steps, step, messages }: Asked): ScriptedReply {
  const write = { name: 'write', input: { path: `${messages}.txt`, content: `${step}\n` } };
  const finish = { name: 'finish', input: { title: promptOf(steps), summary: 'Wrote.', complete: true } };
  return { toolCalls: [step > steps ? finish : write] };
}
