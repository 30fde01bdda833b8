import { createRequire } from 'node:module';
import type { EmbeddingModelV4, LanguageModelV4 } from '@ai-sdk/provider';
import { fetchFromProvider } from './provider-fetch.ts';
import { createOfflineEditor } from './offline-editor/offline-editor.ts';
import { createOfflineExtract } from './offline-extract/offline-extract.ts';

interface CompatibleSettings {
  baseUrl: string;
  apiKey?: string;
  /** Whether to send `prompt_cache_key`, which strict servers reject. */
  sendsCacheKey?: boolean;
}

export interface ModelSettings {
  anthropicApiKey?: string;
  openaiApiKey?: string;
  googleApiKey?: string;
  compatible?: CompatibleSettings;
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

export class UnknownModelError extends Error {
  override name = 'UnknownModelError';
  readonly model: string;

  constructor(message: string, model: string) {
    super(message);
    this.model = model;
  }
}

interface Provider {
  /** The variable that must be set to use the provider; null when it is set or none is needed. */
  missing: string | null;
  /** All models of the provider, if known. */
  models?: string[];
  create(model: string): LanguageModelV4;
  /** Absent: the provider has no embedding models. */
  createEmbedding?(model: string): EmbeddingModelV4;
}

const longestName = 200;
/** Some providers take the model in the URL's path, so it must not lead to another path. */
const modelPattern = /^@?\w[\w.:@+~-]*(?:\/\w[\w.:@+~-]*)*$/;
const fetch = fetchFromProvider;

// a process loads only the providers whose models it creates
const load = createRequire(import.meta.url);
const anthropic = (): typeof import('@ai-sdk/anthropic') => load('@ai-sdk/anthropic');
const google = (): typeof import('@ai-sdk/google') => load('@ai-sdk/google');
const openai = (): typeof import('@ai-sdk/openai') => load('@ai-sdk/openai');
const openaiCompatible = (): typeof import('@ai-sdk/openai-compatible') => load('@ai-sdk/openai-compatible');

/** Creates language and embedding models by name, from the providers that are configured. */
export function createModelRegistry(settings: ModelSettings): ModelRegistry & EmbeddingModelRegistry {
  const providers = providersOf(settings);

  function find(name: string): { provider: Provider; model: string } | string {
    const slash = name.indexOf('/');
    const model = name.slice(slash + 1);
    if (slash < 1 || model.trim() === '' || name.length > longestName) {
      return `A model name has the form provider/model, such as anthropic/claude-sonnet-4-5 or offline/editor; ${quoted(name)} does not.`;
    }
    if (!modelPattern.test(model)) {
      return `A model name consists of letters, digits and . _ : @ + ~ -, in parts separated by "/"; ${quoted(model)} does not.`;
    }
    const provider = providers.get(name.slice(0, slash));
    if (provider === undefined) {
      return `There is no model provider ${quoted(name.slice(0, slash))}. The providers are ${[...providers.keys()].join(', ')}.`;
    }
    if (provider.missing !== null) return `The model ${quoted(name)} needs ${provider.missing} to be set.`;
    if (provider.models !== undefined && !provider.models.includes(model)) {
      return `There is no model ${quoted(name)}. The provider has ${provider.models.join(' and ')}.`;
    }
    return { provider, model };
  }

  return {
    languageModel(name) {
      const found = find(name);
      if (typeof found === 'string') throw new UnknownModelError(found, name);
      return found.provider.create(found.model);
    },
    embeddingModel(name) {
      const found = find(name);
      if (typeof found === 'string') throw new UnknownModelError(found, name);
      const { provider, model } = found;
      if (provider.createEmbedding !== undefined) return provider.createEmbedding(model);
      throw new UnknownModelError(`The provider of ${quoted(name)} has no embedding models.`, name);
    },
    problemWith(name) {
      const found = find(name);
      return typeof found === 'string' ? found : null;
    },
  };
}

function providersOf({
  anthropicApiKey,
  openaiApiKey,
  googleApiKey,
  compatible,
}: ModelSettings): Map<string, Provider> {
  return new Map<string, Provider>([
    [
      'anthropic',
      {
        missing: isSet(anthropicApiKey) ? null : 'ANTHROPIC_API_KEY',
        create: (model) => anthropic().createAnthropic({ apiKey: anthropicApiKey, fetch })(model),
      },
    ],
    [
      'openai',
      {
        missing: isSet(openaiApiKey) ? null : 'OPENAI_API_KEY',
        create: (model) => openai().createOpenAI({ apiKey: openaiApiKey, fetch })(model),
        createEmbedding: (model) => openai().createOpenAI({ apiKey: openaiApiKey, fetch }).embeddingModel(model),
      },
    ],
    [
      'google',
      {
        missing: isSet(googleApiKey) ? null : 'GOOGLE_GENERATIVE_AI_API_KEY',
        create: (model) => google().createGoogle({ apiKey: googleApiKey, fetch })(model),
        createEmbedding: (model) => google().createGoogle({ apiKey: googleApiKey, fetch }).embeddingModel(model),
      },
    ],
    [
      'compatible',
      {
        missing: isSet(compatible?.baseUrl) ? null : 'OPENAI_COMPATIBLE_BASE_URL',
        create: (model) => compatibleProvider(compatible)(model),
        createEmbedding: (model) => compatibleProvider(compatible).embeddingModel(model),
      },
    ],
    ['offline', { missing: null, models: ['editor', 'extract'], create: createOffline }],
  ]);
}

function compatibleProvider({ baseUrl = '', apiKey, sendsCacheKey = false }: Partial<CompatibleSettings> = {}) {
  return openaiCompatible().createOpenAICompatible({
    name: 'compatible',
    baseURL: baseUrl,
    apiKey,
    fetch,
    includeUsage: true,
    transformRequestBody: ({ prompt_cache_key: key, ...body }) =>
      sendsCacheKey ? { ...body, prompt_cache_key: key } : body,
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
