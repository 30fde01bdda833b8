import { createRequire } from 'node:module';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  LanguageModelV4Content,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider';
import { SpanKind, type Attributes, type Span } from '@opentelemetry/api';
import type { TracingSettings } from './tracing-settings.ts';
import { endSpan, kindOf, tracer } from './turn-trace.ts';

const load = createRequire(import.meta.url);

/** Wraps language models so that their calls are spans that follow OpenTelemetry's conventions for generative AI. */
export function traceModels<Models extends { languageModel(name: string): LanguageModelV4 }>(
  models: Models,
  settings: TracingSettings | null,
): Models {
  if (settings === null) return models;
  const { capturesContent } = settings;
  // only a process that traces loads the SDK for it
  const { wrapLanguageModel }: typeof import('ai') = load('ai');
  return {
    ...models,
    languageModel: (name: string) =>
      wrapLanguageModel({
        model: models.languageModel(name),
        middleware: {
          specificationVersion: 'v4',
          async wrapStream({ doStream, params }) {
            const span = startCall(name, params, capturesContent);
            // a reader that leaves stops pulling: only the signal reports it
            params.abortSignal?.addEventListener('abort', () => endSpan(span, 'aborted'), { once: true });
            try {
              const result = await doStream();
              return { ...result, stream: result.stream.pipeThrough(endWith(span, capturesContent)) };
            } catch (error) {
              endSpan(span, kindOf(error));
              throw error;
            }
          },
          async wrapGenerate({ doGenerate, params }) {
            const span = startCall(name, params, capturesContent);
            try {
              const result = await doGenerate();
              const { response, content, finishReason, usage } = result;
              span.setAttributes({ ...answerAttributes(response ?? {}), ...endAttributes(finishReason, usage) });
              if (capturesContent) span.setAttributes(outputContent(content, finishReason.unified));
              endSpan(span);
              return result;
            } catch (error) {
              endSpan(span, kindOf(error));
              throw error;
            }
          },
        },
      }),
  };
}

function startCall(name: string, params: LanguageModelV4CallOptions, capturesContent: boolean): Span {
  const slash = name.indexOf('/');
  const provider = name.slice(0, slash);
  const model = name.slice(slash + 1);
  return tracer().startSpan(`chat ${model}`, {
    kind: SpanKind.CLIENT,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider === 'google' ? 'gcp.gemini' : provider,
      'gen_ai.request.model': model,
      'gen_ai.request.max_tokens': params.maxOutputTokens,
      'gen_ai.request.temperature': params.temperature,
      ...(capturesContent ? inputContent(params.prompt) : {}),
    },
  });
}

function answerAttributes({ id, modelId }: { id?: string; modelId?: string }): Attributes {
  return { 'gen_ai.response.id': id, 'gen_ai.response.model': modelId };
}

function endAttributes({ unified }: LanguageModelV4FinishReason, usage: LanguageModelV4Usage): Attributes {
  return {
    'gen_ai.response.finish_reasons': [unified],
    'gen_ai.usage.input_tokens': usage.inputTokens.total,
    'gen_ai.usage.cache_read.input_tokens': usage.inputTokens.cacheRead,
    'gen_ai.usage.cache_creation.input_tokens': usage.inputTokens.cacheWrite,
    'gen_ai.usage.output_tokens': usage.outputTokens.total,
  };
}

/** Passes a stream through and ends the span with it. */
function endWith(span: Span, capturesContent: boolean) {
  const output: OutputPart[] = [];
  return new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
    transform(part, controller) {
      if (part.type === 'response-metadata') span.setAttributes(answerAttributes(part));
      if (part.type === 'finish') {
        span.setAttributes(endAttributes(part.finishReason, part.usage));
        if (capturesContent) span.setAttributes(outputContent(output, part.finishReason.unified));
      }
      if (part.type === 'error') endSpan(span, 'model_error');
      if (capturesContent) output.push(...outputPartsOf(part));
      controller.enqueue(part);
    },
    flush: () => endSpan(span),
  });
}

function outputPartsOf(part: LanguageModelV4StreamPart): OutputPart[] {
  if (part.type === 'text-delta') return [{ type: 'text', text: part.delta }];
  return part.type === 'tool-call' ? [part] : [];
}

type OutputPart = LanguageModelV4Content | { type: 'text'; text: string };

/** Converts a model's input to the form of OpenTelemetry's conventions. Files are omitted. */
function inputContent(prompt: LanguageModelV4Prompt): Attributes {
  const instructions = prompt.filter((message) => message.role === 'system');
  const messages = prompt.flatMap((message) => {
    if (message.role === 'system') return [];
    return [{ role: message.role, parts: message.content.flatMap(partOf) }];
  });
  return {
    'gen_ai.system_instructions': JSON.stringify(instructions.map(({ content }) => ({ type: 'text', content }))),
    'gen_ai.input.messages': JSON.stringify(messages),
  };
}

/** Converts a model's output; the deltas of a text become one part. */
function outputContent(content: OutputPart[], finishReason: string): Attributes {
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const calls = content.flatMap((part) => (part.type === 'tool-call' ? partOf(part) : []));
  const parts = [...(text === '' ? [] : [{ type: 'text', content: text }]), ...calls];
  const message = { role: 'assistant', parts, finish_reason: finishReason };
  return { 'gen_ai.output.messages': JSON.stringify([message]) };
}

type PromptPart = Exclude<LanguageModelV4Prompt[number], { role: 'system' }>['content'][number];

function partOf(part: PromptPart | Extract<OutputPart, { type: 'tool-call' }>): object[] {
  if (part.type === 'text') return [{ type: 'text', content: part.text }];
  if (part.type === 'reasoning') return [{ type: 'reasoning', content: part.text }];
  if (part.type === 'tool-call')
    return [{ type: 'tool_call', id: part.toolCallId, name: part.toolName, arguments: part.input }];
  if (part.type === 'tool-result') return [{ type: 'tool_call_response', id: part.toolCallId, response: part.output }];
  return [];
}
