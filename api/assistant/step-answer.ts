import type {
  LanguageModelV4ReasoningPart,
  LanguageModelV4StreamPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
} from '@ai-sdk/provider';

/** The answer of a model in one step, in the order of its stream. */
export type StepAnswer = ReturnType<typeof createStepAnswer>;

/**
 * Collects the answer of a step. Its reasoning belongs to it, with the signatures of the provider: models that think
 * refuse a tool's result when the reasoning that led to the call is missing.
 */
export function createStepAnswer() {
  const parts: ReturnType<StepAnswer['content']> = [];
  const reasoning = new Map<string, LanguageModelV4ReasoningPart>();
  return {
    // Anthropic refuses blank texts
    /** Returns the content of the message that the model reads in the next step. */
    content: (): (LanguageModelV4ReasoningPart | LanguageModelV4TextPart | LanguageModelV4ToolCallPart)[] =>
      parts.filter((part) => part.type !== 'text' || part.text.trim() !== ''),
    take(part: LanguageModelV4StreamPart): void {
      switch (part.type) {
        case 'reasoning-start': {
          const begun = { type: 'reasoning' as const, text: '', providerOptions: part.providerMetadata };
          reasoning.set(part.id, begun);
          parts.push(begun);
          return;
        }
        case 'reasoning-delta':
        case 'reasoning-end': {
          const begun = reasoning.get(part.id);
          if (begun === undefined) return;
          if (part.type === 'reasoning-delta') begun.text += part.delta;
          begun.providerOptions = part.providerMetadata ?? begun.providerOptions;
          return;
        }
        case 'text-delta': {
          const last = parts.at(-1);
          if (last?.type === 'text') last.text += part.delta;
          else if (part.delta !== '') parts.push({ type: 'text', text: part.delta });
          return;
        }
        case 'tool-call': {
          const { toolCallId, toolName, input, providerMetadata: providerOptions } = part;
          parts.push({ type: 'tool-call', toolCallId, toolName, input: parseInput(input), providerOptions });
          return;
        }
        default:
      }
    },
  };
}

/** Parses the input of a tool call. Input that does not parse becomes `{}`, because providers require an object. */
function parseInput(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return {};
  }
}
