import { createRequire } from 'node:module';
import type { EmbeddingModelV4, LanguageModelV4, RerankingModelV4 } from '@ai-sdk/provider';
import { gatewayUsage, withBreakpoints } from './gateway-cache.ts';
import { fetchFromProvider } from './provider-fetch.ts';
import { withLowestEffort, withoutStorage, withUnboundReasoning } from './provider-options.ts';
import { createOfflineEditor } from './offline-editor/offline-editor.ts';
import { createOfflineExtract } from './offline-extract/offline-extract.ts';

interface CompatibleSettings {
  baseUrl: string;
  apiKey?: string;
  /** Whether to send `prompt_cache_key`, which strict servers reject. */
  sendsCacheKey?: boolean;
  /** Whether to mark prefixes with Anthropic's `cache_control`, for gateways that accept it. */
  marksPrefixes?: boolean;
}

export interface ModelSettings {
  anthropicApiKey?: string;
  openaiApiKey?: string;
  googleApiKey?: string;
  compatible?: CompatibleSettings;
  /** `baseUrl`: a server that speaks Cohere's protocol; by default Cohere's own. */
  cohere?: { apiKey?: string; baseUrl?: string };
}

export interface ModelRegistry {
  /** Resolves `provider/model`. Throws UnknownModelError for an unknown provider, or one without a key. */
  languageModel(name: string): LanguageModelV4;
  /** Returns why a name cannot be resolved, or null if it can. */
  problemWith(name: string): string | null;
}

export interface EmbeddingModelRegistry {
  /** Resolves `provider/model` of an embedding model. Throws UnknownModelError, also if the provider has none. */
  embeddingModel(name: string): EmbeddingModelV4;
}

export interface RerankingModelRegistry {
  /** Resolves `provider/model` of a reranking model. Throws UnknownModelError, also if the provider has none. */
  rerankingModel(name: string): RerankingModelV4;
}

export class UnknownModelError extends Error {
  override name = 'UnknownModelError';
  readonly model: string;

  constructor(message: string, model: string) {
    super(message);
    this.model = model;
  }
}

interface ModelOf {
  language: LanguageModelV4;
  embedding: EmbeddingModelV4;
  reranking: RerankingModelV4;
}

/** Creates the models of a provider; it has no models of the kinds that are absent. */
type Makers = { [Kind in keyof ModelOf]?: (model: string) => ModelOf[Kind] };

interface Provider extends Makers {
  /** The variable that must be set to use the provider; null when it is set or none is needed. */
  missing: string | null;
  /** All models of the provider, if known. */
  models?: string[];
}

const maxNameLength = 200;
/** Some providers take the model in the URL's path, so it must not lead to another path. */
const modelPattern = /^@?\w[\w.:@+~-]*(?:\/\w[\w.:@+~-]*)*$/;
/** Reasoning models of OpenAI, which Azure and gateways serve, too. */
const refusesMaxTokens = /^(?:.*\/)?(?:gpt-[5-9]|o\d)/;
const fetch = fetchFromProvider;

// a process loads only the providers whose models it creates
const load = createRequire(import.meta.url);
const anthropic = (): typeof import('@ai-sdk/anthropic') => load('@ai-sdk/anthropic');
const cohere = (): typeof import('@ai-sdk/cohere') => load('@ai-sdk/cohere');
const google = (): typeof import('@ai-sdk/google') => load('@ai-sdk/google');
const openai = (): typeof import('@ai-sdk/openai') => load('@ai-sdk/openai');
const openaiCompatible = (): typeof import('@ai-sdk/openai-compatible') => load('@ai-sdk/openai-compatible');

/** Creates models by name, from the providers that are configured. */
export function createModelRegistry(
  settings: ModelSettings,
): ModelRegistry & EmbeddingModelRegistry & RerankingModelRegistry {
  const providers = providersOf(settings);

  function find<Kind extends keyof ModelOf>(kind: Kind, name: string): (() => ModelOf[Kind]) | string {
    const slash = name.indexOf('/');
    const model = name.slice(slash + 1);
    if (slash < 1 || model.trim() === '' || name.length > maxNameLength) {
      return `A model name has the form provider/model, such as anthropic/claude-sonnet-4-5 or offline/editor; ${quoted(name)} does not.`;
    }
    if (!modelPattern.test(model)) {
      return `A model name consists of letters, digits and . _ : @ + ~ -, in parts separated by "/"; ${quoted(model)} does not.`;
    }
    const provider = providers.get(name.slice(0, slash));
    const makers: Makers = provider ?? {};
    const create = makers[kind];
    if (provider === undefined || create === undefined) {
      const able = [...providers].filter(([, provider]) => provider[kind] !== undefined).map(([name]) => name);
      const models = kind === 'language' ? 'model' : `${kind} model`;
      return `There is no ${models} provider ${quoted(name.slice(0, slash))}. The providers are ${able.join(', ')}.`;
    }
    if (provider.missing !== null) return `The model ${quoted(name)} needs ${provider.missing} to be set.`;
    if (provider.models !== undefined && !provider.models.includes(model)) {
      return `There is no model ${quoted(name)}. The provider has ${provider.models.join(' and ')}.`;
    }
    return () => create(model);
  }

  function resolve<Kind extends keyof ModelOf>(kind: Kind, name: string): ModelOf[Kind] {
    const found = find(kind, name);
    if (typeof found === 'string') throw new UnknownModelError(found, name);
    return found();
  }

  return {
    languageModel: (name) => resolve('language', name),
    embeddingModel: (name) => resolve('embedding', name),
    rerankingModel: (name) => resolve('reranking', name),
    problemWith(name) {
      const found = find('language', name);
      return typeof found === 'string' ? found : null;
    },
  };
}

function providersOf({
  anthropicApiKey,
  openaiApiKey,
  googleApiKey,
  compatible,
  cohere: cohereSettings,
}: ModelSettings): Map<string, Provider> {
  return new Map<string, Provider>([
    [
      'anthropic',
      {
        missing: isSet(anthropicApiKey) ? null : 'ANTHROPIC_API_KEY',
        language: (model) =>
          withUnboundReasoning(anthropic().createAnthropic({ apiKey: anthropicApiKey, fetch })(model)),
      },
    ],
    [
      'openai',
      {
        missing: isSet(openaiApiKey) ? null : 'OPENAI_API_KEY',
        language: (model) =>
          withLowestEffort(withoutStorage(openai().createOpenAI({ apiKey: openaiApiKey, fetch })(model))),
        embedding: (model) => openai().createOpenAI({ apiKey: openaiApiKey, fetch }).embeddingModel(model),
      },
    ],
    [
      'google',
      {
        missing: isSet(googleApiKey) ? null : 'GOOGLE_GENERATIVE_AI_API_KEY',
        language: (model) => google().createGoogle({ apiKey: googleApiKey, fetch })(model),
        embedding: (model) => google().createGoogle({ apiKey: googleApiKey, fetch }).embeddingModel(model),
      },
    ],
    [
      'compatible',
      {
        missing: isSet(compatible?.baseUrl) ? null : 'OPENAI_COMPATIBLE_BASE_URL',
        language: (model) => compatibleProvider(compatible)(model),
        embedding: (model) => compatibleProvider(compatible).embeddingModel(model),
      },
    ],
    [
      'cohere',
      {
        missing: isSet(cohereSettings?.apiKey) ? null : 'COHERE_API_KEY',
        reranking: (model) =>
          cohere()
            .createCohere({ apiKey: cohereSettings?.apiKey, baseURL: cohereSettings?.baseUrl, fetch })
            .rerankingModel(model),
      },
    ],
    ['offline', { missing: null, models: ['editor', 'extract'], language: createOffline }],
  ]);
}

function compatibleProvider(settings: Partial<CompatibleSettings> = {}) {
  const { baseUrl = '', apiKey, sendsCacheKey = false, marksPrefixes = false } = settings;
  return openaiCompatible().createOpenAICompatible({
    name: 'compatible',
    baseURL: baseUrl,
    apiKey,
    fetch,
    includeUsage: true,
    convertUsage: marksPrefixes ? gatewayUsage : undefined,
    transformRequestBody: ({ prompt_cache_key: key, max_tokens: limit, reasoning_effort: effort, ...body }) => ({
      ...body,
      [refusesMaxTokens.test(String(body['model'])) ? 'max_completion_tokens' : 'max_tokens']: limit,
      // many servers refuse the word, and those without reasoning any effort
      reasoning_effort: effort === 'none' ? undefined : effort,
      ...(sendsCacheKey ? { prompt_cache_key: key } : {}),
      ...(marksPrefixes && key !== undefined ? { messages: withBreakpoints(body['messages']) } : {}),
    }),
  });
}

function createOffline(model: string): LanguageModelV4 {
  return model === 'extract' ? createOfflineExtract() : createOfflineEditor();
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value.trim() !== '';
}

function quoted(name: string): string {
  return JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name);
}
