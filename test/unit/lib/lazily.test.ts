import { expect, it } from 'vitest';
import { lazily } from '../../../lib/lazily.ts';

it('makes a part at its first use, once for all who ask, and again only after a failure', async () => {
  const made = { count: 0 };
  const part = lazily(async () => {
    made.count += 1;
    if (made.count === 1) throw new Error('The disk is full.');
    return made;
  });
  expect(made.count).toBe(0);
  const asked = await Promise.allSettled([part(), part()]);
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await Promise.all([part(), part()])).toEqual([made, made]);
  expect(made.count).toBe(2);
});
