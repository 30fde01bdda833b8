import { expect, it } from 'vitest';
import { readHistories } from '../support/histories.ts';

it('there is a history of a message that was delivered at the third attempt', async () => {
  expect((await readHistories()).map(({ name }) => name)).toContain('webhook-retried');
});
