import type { LanguageModelV4 } from '@ai-sdk/provider';
import { wrapLanguageModel } from 'ai';
import type { Span, Tracer } from './tracer.ts';

/** Language models whose calls are spans: the model's name and what it used, never what was said. */
export function traceModels<Models extends { languageModel(name: string): LanguageModelV4 }>(
  models: Models,
  tracer: Tracer,
): Models {
  if (!tracer.isOn) return models;
  return {
    ...models,
    languageModel: (name: string) =>
      wrapLanguageModel({
        model: models.languageModel(name),
        middleware: {
          specificationVersion: 'v4',
          async wrapStream({ doStream, params }) {
            const span = startCall(tracer, name);
            // a reader that leaves pulls no further: only the signal tells
            params.abortSignal?.addEventListener('abort', () => span.end('aborted'), { once: true });
            try {
              const result = await doStream();
              return { ...result, stream: result.stream.pipeThrough(endWith(span)) };
            } catch (error) {
              span.end(kindOf(error));
              throw error;
            }
          },
          async wrapGenerate({ doGenerate }) {
            const span = startCall(tracer, name);
            try {
              const result = await doGenerate();
              span.end();
              return result;
            } catch (error) {
              span.end(kindOf(error));
              throw error;
            }
          },
        },
      }),
  };
}

function startCall(tracer: Tracer, name: string): Span {
  return tracer.start('model call', { kind: 'client', attributes: { 'gen_ai.request.model': name } });
}

/** Passes a stream on and ends the span with it. */
function endWith(span: Span) {
  return new TransformStream({
    transform(part, controller) {
      if (part.type === 'finish') {
        span.set({
          'gen_ai.usage.input_tokens': part.usage.inputTokens?.total ?? 0,
          'gen_ai.usage.output_tokens': part.usage.outputTokens?.total ?? 0,
        });
      }
      if (part.type === 'error') span.end('model_error');
      controller.enqueue(part);
    },
    flush: () => span.end(),
  });
}

function kindOf(error: unknown): string {
  return error instanceof Error ? error.name : 'error';
}
