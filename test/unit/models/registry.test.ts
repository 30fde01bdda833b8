import { describe, expect, it } from 'vitest';
import { createModelRegistry, UnknownModelError } from '../../../models/registry.ts';
import { modelProviders } from '../../../lib/inputs/administration.ts';

const everything = createModelRegistry({
  anthropicApiKey: 'a',
  openaiApiKey: 'b',
  googleApiKey: 'c',
  compatible: { baseUrl: 'http://127.0.0.1:1/v1' },
  cohere: { apiKey: 'd' },
});
const nothing = createModelRegistry({ anthropicApiKey: '', compatible: { baseUrl: ' ' } });

describe('the model registry', () => {
  it('has the providers that a project can name', () => {
    expect(everything.problemWith('nobody/x')).toContain(`The providers are ${modelProviders.join(', ')}.`);
  });

  it.each([
    ['anthropic/claude-sonnet-4-5', 'anthropic', 'claude-sonnet-4-5'],
    ['openai/gpt-5', 'openai', 'gpt-5'],
    ['google/gemini-2.5-pro', 'google', 'gemini-2.5-pro'],
    ['compatible/meta-llama/Llama-3', 'compatible', 'meta-llama/Llama-3'],
    ['compatible/@cf/qwen/qwen2.5:7b-instruct_q4+x~1', 'compatible', '@cf/qwen/qwen2.5:7b-instruct_q4+x~1'],
    ['openai/ft:gpt-4o:org::id', 'openai', 'ft:gpt-4o:org::id'],
    ['offline/editor', 'offline', 'editor'],
    ['offline/extract', 'offline', 'extract'],
  ])('resolves %s', (name, provider, modelId) => {
    expect(everything.problemWith(name)).toBeNull();
    const model = everything.languageModel(name);
    expect(model.specificationVersion).toBe('v4');
    expect(model.provider).toContain(provider);
    expect(model.modelId).toBe(modelId);
  });

  it.each([
    '../files',
    'models/../../files',
    'x?key=',
    'x#',
    'x%2f..',
    'a//b',
    'a/',
    'a/./b',
    'a b',
    'a\\b',
    'x\n',
    '@/x',
  ])('refuses the model name %j, which would lead to another address of the provider', (model) => {
    expect(everything.problemWith(`google/${model}`)).toContain('A model name consists of');
  });

  it.each([
    ['anthropic/claude', 'ANTHROPIC_API_KEY'],
    ['openai/gpt', 'OPENAI_API_KEY'],
    ['google/gemini', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    ['compatible/llama', 'OPENAI_COMPATIBLE_BASE_URL'],
    ['offline/painter', 'editor and extract'],
    ['nobody/x', 'There is no model provider "nobody"'],
    ['__proto__/x', 'There is no model provider "__proto__"'],
    ['', 'has the form provider/model'],
    ['editor', 'has the form provider/model'],
    ['/editor', 'has the form provider/model'],
    ['offline/', 'has the form provider/model'],
    [`offline/${'x'.repeat(300)}`, 'has the form provider/model'],
  ])('reports what is wrong with %j', (name, words) => {
    expect(nothing.problemWith(name)).toContain(words);
    expect(() => nothing.languageModel(name)).toThrow(UnknownModelError);
    expect(() => nothing.languageModel(name)).toThrow(words);
  });

  it('resolves models for search', () => {
    expect(everything.embeddingModel('openai/text-embedding-3-small').modelId).toBe('text-embedding-3-small');
    expect(everything.rerankingModel('cohere/rerank-v3.5').modelId).toBe('rerank-v3.5');
    expect(() => nothing.rerankingModel('cohere/rerank-v3.5')).toThrow('needs COHERE_API_KEY');
  });

  it.each([
    [() => everything.embeddingModel('anthropic/x'), 'openai, google, compatible.'],
    [() => everything.rerankingModel('openai/x'), 'cohere.'],
    [() => everything.languageModel('cohere/command'), 'anthropic, openai, google, compatible, offline.'],
  ])('names the providers that have such models', (resolve, providers) => {
    expect(resolve).toThrow(UnknownModelError);
    expect(resolve).toThrow(`The providers are ${providers}`);
  });
});
