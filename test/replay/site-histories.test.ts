import { expect, it } from 'vitest';
import { readHistories } from '../support/histories.ts';

it('there is a history of a site that was indexed, one that could not be, and one that is refreshed by itself', async () => {
  const names = (await readHistories()).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['site-indexed', 'site-refreshed', 'site-unreadable']));
});
