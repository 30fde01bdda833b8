import type { LanguageModelV4 } from '@ai-sdk/provider';

export interface ModelSettings {
  anthropicApiKey?: string;
  openaiApiKey?: string;
  googleApiKey?: string;
  compatible?: { baseUrl: string; apiKey?: string };
}

export interface ModelRegistry {
  /** Resolves `provider/model`. Throws UnknownModelError: unknown provider, or one that has no key here. */
  languageModel(name: string): LanguageModelV4;
  /** Whether a name could be resolved; a sentence that says why not, or null. */
  problemWith(name: string): string | null;
}

export class UnknownModelError extends Error {
  override name = 'UnknownModelError';
}

export declare function createModelRegistry(settings: ModelSettings): ModelRegistry;
