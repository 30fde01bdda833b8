import type { JSONObject, LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';

/** Claude 5.1 and later bind their reasoning to all that came before it. */
const bindsReasoning = /^claude-[a-z]+-(?:5-[1-9]|[6-9]|\d\d)(?!\d)/;

/**
 * Returns a model of Anthropic. Reasoning is refused where something before it has changed, such as a masked output or
 * the list of tools; it is dropped instead.
 */
export function withUnboundReasoning(model: LanguageModelV4): LanguageModelV4 {
  if (!bindsReasoning.test(model.modelId)) return model;
  return withOptions(model, 'anthropic', { thinking: { blockBinding: { prefixMismatchBehavior: 'drop_block' } } });
}

/**
 * Returns a model of OpenAI that stores nothing at the provider. Its reasoning comes with the answer, encrypted, and is
 * sent back, instead of a reference that is unknown to organizations without data retention, and to all after 30 days.
 */
export function withoutStorage(model: LanguageModelV4): LanguageModelV4 {
  return withOptions(model, 'openai', { store: false });
}

/** Returns a model whose calls have further options of its provider. */
function withOptions(model: LanguageModelV4, provider: string, more: JSONObject): LanguageModelV4 {
  const { specificationVersion, modelId, supportedUrls } = model;
  const given = (call: LanguageModelV4CallOptions): LanguageModelV4CallOptions => {
    const { providerOptions = {} } = call;
    return { ...call, providerOptions: { ...providerOptions, [provider]: { ...providerOptions[provider], ...more } } };
  };
  return {
    specificationVersion,
    provider: model.provider,
    modelId,
    supportedUrls,
    doGenerate: (call) => model.doGenerate(given(call)),
    doStream: (call) => model.doStream(given(call)),
  };
}
