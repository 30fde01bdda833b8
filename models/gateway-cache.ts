import type { LanguageModelV4Usage } from '@ai-sdk/provider';

/** Ends a prefix that a gateway lets Anthropic's models cache. */
const breakpoint = { cache_control: { type: 'ephemeral' } } as const;

/** A message of the OpenAI protocol, as far as prefixes need it. */
interface WireMessage {
  role: string;
  content?: string | object[] | null;
}

/**
 * Returns the messages with the ends of their prefixes marked: the system prompt, where the call before ended, and the end.
 * Every text becomes a part, marked or not, so that a message stays the same when its mark moves on.
 */
export function withBreakpoints(messages: WireMessage[]): WireMessage[] {
  const answered = messages.findLastIndex(({ role }) => role === 'assistant');
  const ends = new Set([messages.findIndex(({ role }) => role === 'system'), answered - 1, messages.length - 1]);
  return messages.map((message, at) => {
    const { role, content } = message;
    if (role === 'assistant' || content === undefined || content === null || content === '') return message;
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    return { ...message, content: ends.has(at) ? [...parts.slice(0, -1), { ...parts.at(-1), ...breakpoint }] : parts };
  });
}

interface WireUsage {
  prompt_tokens?: number | null | undefined;
  completion_tokens?: number | null | undefined;
  /** LiteLLM's count of tokens written to the cache. */
  cache_creation_input_tokens?: unknown;
  prompt_tokens_details?:
    | {
        cached_tokens?: number | null | undefined;
        /** OpenRouter's count of tokens written to the cache. */
        cache_write_tokens?: unknown;
      }
    | null
    | undefined;
  completion_tokens_details?: { reasoning_tokens?: number | null | undefined } | null | undefined;
}

/** Returns the usage that a gateway reports, with what was written to the cache, which the OpenAI protocol does not have. */
export function gatewayUsage(usage: WireUsage | null | undefined): LanguageModelV4Usage {
  const { prompt_tokens: input, completion_tokens: output, prompt_tokens_details: details } = usage ?? {};
  const written = details?.cache_write_tokens ?? usage?.cache_creation_input_tokens;
  return {
    inputTokens: {
      total: input ?? undefined,
      noCache: undefined,
      cacheRead: details?.cached_tokens ?? undefined,
      cacheWrite: typeof written === 'number' ? written : undefined,
    },
    outputTokens: {
      total: output ?? undefined,
      text: undefined,
      reasoning: usage?.completion_tokens_details?.reasoning_tokens ?? undefined,
    },
  };
}
