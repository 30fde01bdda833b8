import type { ModelMessage, SystemModelMessage, ToolSet } from 'ai';

/** Ends a prefix that Anthropic's models cache. Other providers ignore it. */
const breakpoint = { anthropic: { cacheControl: { type: 'ephemeral' } } } as const;

interface Prompt {
  system: string;
  messages: ModelMessage[];
  tools: ToolSet;
}

/**
 * Returns the request with the ends of its prefixes marked; Anthropic allows four. The tools are the same in most jobs,
 * and the system prompt is the same in all calls of a job. The conversation is read up to where the call before ended it, and
 * written up to its end for the call after.
 */
export function withCache({ system, messages, tools }: Prompt, key: string) {
  const answered = messages.findLastIndex(({ role }) => role === 'assistant');
  const ends = new Set([answered - 1, messages.length - 1]);
  return {
    instructions: { role: 'system', content: system, providerOptions: breakpoint } satisfies SystemModelMessage,
    messages: messages.map((message, at) => (ends.has(at) ? { ...message, providerOptions: breakpoint } : message)),
    tools: withBreakpoint(tools),
    providerOptions: { openai: { promptCacheKey: key }, compatible: { prompt_cache_key: key } },
  };
}

/** The library builds a tool's schema once per definition, which the copy shares. */
function withBreakpoint(tools: ToolSet): ToolSet {
  const [name, last] = Object.entries(tools).at(-1) ?? [];
  if (name === undefined || last === undefined) return tools;
  return { ...tools, [name]: { ...last, providerOptions: breakpoint } };
}
