import { expect, it } from 'vitest';
import { runMixedChaos } from '../chaos/mixed.ts';

it('nothing is lost and nothing happens twice while processes are killed', { timeout: 600_000 }, async () => {
  expect(await runMixedChaos(['--jobs', '6', '--kills', '4', '--halts', '0', '--seed', '8'])).toBe(0);
});
