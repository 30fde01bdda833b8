import { expect, it } from 'vitest';
import { readHistories } from '../support/database/histories.ts';

it('a history exists of a delivery that succeeded at the third attempt', async () => {
  expect((await readHistories()).map(({ name }) => name)).toContain('webhook-retried');
});
