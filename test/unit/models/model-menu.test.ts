import { expect, it } from 'vitest';
import { modelMenu } from '../../../models/model-menu.ts';
import { createModelRegistry } from '../../../models/registry.ts';

it('lists models with their prices, those with a key first', () => {
  const registry = createModelRegistry({ anthropicApiKey: 'key', compatible: { baseUrl: 'http://models.example' } });
  const overrides = { 'compatible/qwen': { input: 0.2, output: 0.6 }, 'anthropic/claude-opus-5': { window: 100_000 } };
  const menu = modelMenu(overrides, registry);
  const find = (wanted: string) => menu.find(({ name }) => name === wanted);
  expect(find('compatible/qwen')).toEqual({ name: 'compatible/qwen', inputUsd: 0.2, outputUsd: 0.6, problem: null });
  expect(find('anthropic/claude-opus-5')).toMatchObject({ inputUsd: 5, outputUsd: 25, problem: null });
  expect(find('offline/editor')).toMatchObject({ inputUsd: 0, problem: null });
  const problems = menu.map(({ problem }) => problem !== null);
  expect(problems).toEqual(problems.toSorted());
  expect(menu.at(-1)?.problem).toMatch(/needs \w+_API_KEY to be set/);
  expect(new Set(menu.map(({ name }) => name)).size).toBe(menu.length);
});
