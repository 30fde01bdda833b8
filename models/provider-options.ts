import type { JSONObject, LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';

/** Claude 5.1 and later bind their reasoning to all that came before it. */
const bindsReasoning = /^claude-[a-z]+-(?:5-[1-9]|[6-9]|\d\d)(?!\d)/;

/**
 * Returns a model of Anthropic. Reasoning is refused where something before it has changed, such as a masked output or
 * the list of tools; it is dropped instead.
 */
export function withUnboundReasoning(model: LanguageModelV4): LanguageModelV4 {
  if (!bindsReasoning.test(model.modelId)) return model;
  const unbound = { thinking: { blockBinding: { prefixMismatchBehavior: 'drop_block' } } };
  // the option would replace the one that turns reasoning off
  return withCalls(model, (call) => (call.reasoning === 'none' ? call : withOptions(call, 'anthropic', unbound)));
}

/**
 * Returns a model of OpenAI that stores nothing at the provider. Its reasoning comes with the answer, encrypted, and is
 * sent back, instead of a reference that is unknown to organizations without data retention, and to all after 30 days.
 * It comes without the summary that the library asks for with an effort: unverified organizations are refused one.
 */
export function withoutStorage(model: LanguageModelV4): LanguageModelV4 {
  return withCalls(model, (call) => withOptions(call, 'openai', { store: false, reasoningSummary: null }));
}

const efforts = ['none', 'minimal', 'low', 'medium', 'high'];

/** Returns a model of OpenAI that is asked for its lowest effort instead of a lower one, which it would refuse. */
export function withLowestEffort(model: LanguageModelV4): LanguageModelV4 {
  const lowest = lowestEffortOf(model.modelId);
  if (lowest === null) return model;
  const lower = efforts.slice(0, efforts.indexOf(lowest));
  return withCalls(model, (call) => (lower.includes(call.reasoning ?? '') ? { ...call, reasoning: lowest } : call));
}

/** Null for a model whose lowest effort the library knows. */
function lowestEffortOf(modelId: string): 'low' | 'medium' | 'high' | null {
  if (modelId.startsWith('gpt-5-pro')) return 'high';
  if (/^gpt-.+-(?:pro|chat)/.test(modelId)) return 'medium';
  return /^o\d|codex/.test(modelId) ? 'low' : null;
}

function withOptions(
  { providerOptions = {}, ...call }: LanguageModelV4CallOptions,
  provider: string,
  more: JSONObject,
): LanguageModelV4CallOptions {
  return { ...call, providerOptions: { ...providerOptions, [provider]: { ...providerOptions[provider], ...more } } };
}

function withCalls(
  model: LanguageModelV4,
  given: (call: LanguageModelV4CallOptions) => LanguageModelV4CallOptions,
): LanguageModelV4 {
  const { specificationVersion, provider, modelId, supportedUrls } = model;
  return {
    specificationVersion,
    provider,
    modelId,
    supportedUrls,
    doGenerate: (call) => model.doGenerate(given(call)),
    doStream: (call) => model.doStream(given(call)),
  };
}
