import { listPrices } from './price-table.ts';
import type { PriceOverrides } from './prices.ts';
import type { ModelRegistry } from './registry.ts';

/** A model to choose, with its prices in US dollars per million tokens. */
export interface ModelChoice {
  name: string;
  inputUsd: number;
  outputUsd: number;
  /** Why it cannot be used, such as a missing key; null if it can. */
  problem: string | null;
}

/** Returns the models with known prices, those that can be used first. */
export function modelMenu(
  overrides: PriceOverrides,
  { problemWith }: Pick<ModelRegistry, 'problemWith'>,
): ModelChoice[] {
  const prices = new Map<string, { input?: number | undefined; output?: number | undefined }>([
    ['offline/editor', { input: 0, output: 0 }],
    ...Object.entries(listPrices),
    ...Object.entries(overrides).filter(([, { input }]) => input !== undefined),
  ]);
  return [...prices]
    .map(([name, { input = 0, output = 0 }]) => ({
      name,
      inputUsd: input,
      outputUsd: output,
      problem: problemWith(name),
    }))
    .sort((a, b) => Number(a.problem !== null) - Number(b.problem !== null));
}
