import { expect, it } from 'vitest';
import { readHistories } from '../support/database/histories.ts';

it('histories exist of a site that was indexed, one that could not be, and one with an automatic refresh', async () => {
  const names = (await readHistories()).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['site-indexed', 'site-refreshed', 'site-unreadable']));
});
