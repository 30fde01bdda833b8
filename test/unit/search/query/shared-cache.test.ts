import { expect, it } from 'vitest';
import { createSharedCache } from '../../../../search/query/shared-cache.ts';

it('is emptied when the entries of all indexes weigh more than it may hold', () => {
  const cache = createSharedCache<number, string>(10, ({ length }) => length);
  const [one, other] = [{}, {}];
  cache.set(one, 1, 'four');
  cache.set(other, 1, 'chars');
  expect([cache.get(one, 1), cache.get(other, 1), cache.get(one, 2)]).toEqual(['four', 'chars', undefined]);
  cache.set(other, 2, 'six is');
  expect([cache.get(one, 1), cache.get(other, 1), cache.get(other, 2)]).toEqual([undefined, undefined, 'six is']);
  cache.set(one, 1, 'four');
  expect([cache.get(one, 1), cache.get(other, 2)]).toEqual(['four', 'six is']);
  cache.set(one, 2, 'x');
  expect([cache.get(one, 1), cache.get(one, 2)]).toEqual([undefined, 'x']);
});
