import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { createDeltaClock, dueMark } from './delta-clock.ts';

/** A question that tells the model below how to answer; 0 ms: all at once. */
export function questionFor({ deltas, everyMs }: { deltas: number; everyMs: number }): string {
  return `How do I configure the webhook and rotate its secret? deltas${deltas}every${everyMs}ms`;
}

const sentence =
  'To set the limit of retries , open the settings of the project , choose the channel that you want to change and write `retryLimit` there . See [Guide](/guide) for what else it holds . ';
const words = sentence.match(/\S+ /g) ?? [];

/** Answers in words of English with code and links, without thinking: all deltas at once, or one per interval in milliseconds. `onAbort` is called for aborted answers. */
export function createStreamModel({ onAbort }: { onAbort?: () => void } = {}): LanguageModelV4 {
  const clock = createDeltaClock();
  return {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: 'stream',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('not used')),
    doStream(options) {
      const { deltas, everyMs } = wishOf(options);
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        start(controller) {
          controller.enqueue({ type: 'stream-start', warnings: [] });
          controller.enqueue({ type: 'text-start', id: '0' });
          if (everyMs === 0) {
            for (let at = 0; at < deltas; at += 1) controller.enqueue(deltaOf(at, ''));
            end(controller, deltas);
            return;
          }
          let at = 0;
          const stop = clock.add(everyMs, (dueMs) => {
            controller.enqueue(deltaOf(at, dueMark(dueMs)));
            at += 1;
            if (at < deltas) return true;
            end(controller, deltas);
            return false;
          });
          options.abortSignal?.addEventListener('abort', () => {
            stop();
            onAbort?.();
          });
        },
      });
      return Promise.resolve({ stream });
    },
  };
}

function deltaOf(position: number, mark: string): LanguageModelV4StreamPart {
  return { type: 'text-delta', id: '0', delta: `${mark}${words[position % words.length] ?? ''}` };
}

function end(controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>, deltas: number): void {
  controller.enqueue({ type: 'text-end', id: '0' });
  controller.enqueue({
    type: 'finish',
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: {
      inputTokens: { total: 1_000, noCache: 1_000, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: deltas, text: deltas, reasoning: 0 },
    },
  });
  controller.close();
}

function wishOf({ prompt }: LanguageModelV4CallOptions): { deltas: number; everyMs: number } {
  const match = /deltas(\d+)every(\d+)ms/.exec(JSON.stringify(prompt.at(-1)?.content));
  if (match === null) throw new Error('The question does not say how to answer.');
  return { deltas: Number(match[1]), everyMs: Number(match[2]) };
}
