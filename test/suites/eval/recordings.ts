import { basename } from 'node:path';
import { z } from 'zod';
import { CommandError } from '../../../cli/command-error.ts';
import { answerOf, type Api } from '../../../cli/http/api.ts';
import {
  startScriptedModelServer,
  type ChatMessage,
  type ScriptedModelServer,
  type ScriptedReply,
} from '../../support/servers/scripted-model-server.ts';
import { listedJob } from './run.ts';
import type { Result } from './results.ts';
import { parsed, textOf } from './tasks.ts';

const callSchema = z.strictObject({ name: z.string(), input: z.unknown() });
const recordingSchema = z.strictObject({
  task: z.string(),
  /** Identifies the task when the model is asked. */
  prompt: z.string().min(1),
  replies: z.array(
    z.strictObject({
      usage: z.strictObject({ inputTokens: z.number(), outputTokens: z.number() }).optional(),
      calls: z.array(callSchema).min(1),
    }),
  ),
});

/** The tool calls of a model on a task. */
export type Recording = z.infer<typeof recordingSchema>;

/** Returns what the model called in the first attempt at each task of a run. Throws CommandError for a deleted job. */
export async function recordRun(api: Api, results: Result[], say: (recording: Recording) => void): Promise<void> {
  for (const { task, attempt, job } of results) {
    if (attempt > 1 || job === null) continue;
    const { projectId } = await listedJob(api, job);
    const path = { projectId, id: job };
    const { turns } = await answerOf(api.GET('/v2/agent/{projectId}/job/{id}/turns', { params: { path } }));
    const replies: Recording['replies'] = [];
    for (let after: string | null = '0.0'; after !== null;) {
      const page: { steps: { turn: number; step: number }[]; nextAfter: string | null } = await answerOf(
        api.GET('/v2/agent/{projectId}/job/{id}/steps', { params: { path, query: { after } } }),
      );
      for (const { turn, step } of page.steps) {
        // lists truncate long inputs
        const { toolCalls, usage } = await answerOf(
          api.GET('/v2/agent/{projectId}/job/{id}/steps/{turn}/{step}', { params: { path: { ...path, turn, step } } }),
        );
        const { inputTokens, outputTokens } = usage;
        const calls = toolCalls.map(({ toolName, input }) => ({ name: toolName, input }));
        if (calls.length > 0) replies.push({ usage: { inputTokens, outputTokens }, calls });
      }
      after = page.nextAfter;
    }
    say({ task, prompt: turns[0]?.prompt ?? '', replies });
  }
}

/** Reads a file of recordings. Throws CommandError. */
export function readRecordings(file: string): Recording[] {
  const recordings = textOf(file)
    .split('\n')
    .flatMap((line, index) =>
      line === '' ? [] : parsed(recordingSchema, `${file}, line ${index + 1},`, () => JSON.parse(line)),
    );
  const prompts = recordings.map(({ prompt }) => prompt);
  const twin = recordings.find(({ prompt }, index) => prompts.indexOf(prompt) < index);
  if (twin !== undefined) throw new CommandError(`${file} has two recordings for the prompt of ${twin.task}.`);
  return recordings;
}

/**
 * Starts an OpenAI-compatible server with a model for each file, named after it (`good` for `good.jsonl`), that repeats
 * the recorded calls. It keeps no state, so that a retried request gets the same reply.
 */
export async function playRecordings(files: string[], port: number): Promise<ScriptedModelServer> {
  const models = new Map(files.map((file) => [basename(file, '.jsonl'), readRecordings(file)]));
  const server = await startScriptedModelServer({ port });
  server.respondWith(({ body: { model, messages } }) => {
    const asked = JSON.stringify(messages.filter(({ role }) => role === 'user'));
    // the longest one: a prompt may contain another
    const [recording] = (models.get(model) ?? [])
      .filter(({ prompt }) => asked.includes(JSON.stringify(prompt).slice(1, -1)))
      .toSorted((a, b) => b.prompt.length - a.prompt.length);
    if (recording === undefined) return { status: 400, errorMessage: `${model} has no recording for this prompt.` };
    return replyOf(recording, answeredIn(messages));
  });
  return server;
}

// short, because the worker masks its secrets, which have six characters or more
const idOf = /^play_(?<reply>\d+)_/;
const ended: Recording['replies'][number] = {
  calls: [{ name: 'finish', input: { title: 'The recording ends here', summary: '', complete: false } }],
};

/** Returns the number of replies that the model has sent; compaction may have removed some of them. */
function answeredIn(messages: ChatMessage[]): number {
  const ids = messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => idOf.exec(id)?.groups?.['reply']));
  return ids.reduce((count, reply) => Math.max(count, Number(reply ?? -1) + 1), 0);
}

function replyOf({ replies }: Recording, index: number): ScriptedReply {
  // a job may make more requests than the recorded one, such as a review before publishing
  const last = replies.findLast(({ calls }) => calls.some(({ name }) => name === 'finish'));
  const { calls, usage } = replies[index] ?? last ?? ended;
  const toolCalls = calls.map((call, at) => ({ ...call, id: `play_${index}_${at}` }));
  return { toolCalls, ...(usage === undefined ? {} : { usage }) };
}
