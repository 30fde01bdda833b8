import { expect, it } from 'vitest';
import { nameSchema } from '../../../../lib/inputs/administration.ts';

it.each(['\u200b', '\u2060\ufeff \u200d', '\u00ad'])('refuses an invisible name: %j', (name) => {
  expect(nameSchema.safeParse(name).success).toBe(false);
});

it.each(['a', ' docs ', '\u{1f468}\u200d\u{1f469}', '\u0646\u0627\u0645'])('accepts the name %j', (name) => {
  expect(nameSchema.parse(name)).toBe(name.trim());
});
