import { expect, it } from 'vitest';
import { pageEvery } from '../../../dashboard/http/all-pages.ts';

it('reads a list as many times more rarely as pages of it are open', () => {
  const intervals = [undefined, { pages: [1] }, { pages: [1, 2, 3] }].map((data) =>
    pageEvery(15_000)({ state: { data } }),
  );
  expect(intervals).toEqual([15_000, 15_000, 45_000]);
});
