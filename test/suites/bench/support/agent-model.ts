import { setTimeout as delay } from 'node:timers/promises';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider';
import { beforeRequest } from '../../../../models/provider-fetch.ts';

/** Steps of a job: one that touches no file, reads one, or changes one. */
export const stepKinds = ['todo', 'read', 'write'] as const;
/** `long`: reads, and an occasional change. */
export type StepKind = (typeof stepKinds)[number] | 'long';

/** A prompt that tells the model below what to do. */
export function promptFor({ kind, steps }: { kind: StepKind; steps: number }): string {
  return `bench: ${steps} steps that ${kind}`;
}

const finish = {
  finishReason: { unified: 'tool-calls', raw: 'tool-calls' },
  usage: {
    inputTokens: { total: 1_000, noCache: 1_000, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 50, text: 50, reasoning: 0 },
  },
} as const;

/**
 * Requests one tool call per step, as often as the prompt says, then finishes; answers after `answerMs`. Confirms the call
 * first, as models of providers do.
 */
export function createAgentModel(answerMs: number): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'agent',
    supportedUrls: {},
    async doGenerate(options) {
      await beforeRequest.getStore()?.();
      await delay(answerMs);
      return { ...finish, content: [nextCall(options)], warnings: [] };
    },

    async doStream(options) {
      await beforeRequest.getStore()?.();
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        async start(controller) {
          controller.enqueue({ type: 'stream-start', warnings: [] });
          await delay(answerMs);
          if (options.tools === undefined || options.tools.length === 0) {
            controller.enqueue({ type: 'text-start', id: 'notes' });
            controller.enqueue({ type: 'text-delta', id: 'notes', delta: 'The pages are alike.' });
            controller.enqueue({ type: 'text-end', id: 'notes' });
          } else controller.enqueue(nextCall(options));
          controller.enqueue({ type: 'finish', ...finish });
          controller.close();
        },
      });
      return { stream };
    },
  };
}

function nextCall({ prompt }: LanguageModelV4CallOptions): LanguageModelV4ToolCall {
  const asked = prompt.find(({ role }) => role === 'user');
  const match = /bench: (\d+) steps that (\w+)/.exec(JSON.stringify(asked?.content));
  // old answers may be omitted: the newest one knows how many there were
  const newest = prompt.findLast(({ role }) => role === 'assistant');
  const step = Number(/"call_(\d+)"/.exec(JSON.stringify(newest?.content ?? ''))?.[1] ?? 0) + 1;
  const [, steps, kind] = match ?? [];
  const { toolName, input } =
    step > Number(steps)
      ? { toolName: 'finish', input: { title: 'Change some notes', summary: 'All steps are done.' } }
      : callOf(kind, step);
  return { type: 'tool-call', toolCallId: `call_${step}`, toolName, input: JSON.stringify(input) };
}

function callOf(kind: string | undefined, step: number): { toolName: string; input: unknown } {
  switch (kind) {
    case 'todo':
      return { toolName: 'todo', input: { items: [{ text: `Do part ${step}`, done: false }] } };
    case 'read':
      return { toolName: 'read', input: { path: `docs/page-${step % 50}.md` } };
    case 'long':
      return callOf(step % 25 === 0 ? 'write' : 'read', step);
    case 'write':
      return {
        toolName: 'write',
        input: { path: `notes/${step}.md`, content: `# Note ${step}\n\nWritten in step ${step}.\n` },
      };
    default:
      throw new Error('The prompt does not say what to do.');
  }
}
