import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describedApi, stampOf, typesFile } from '../../../local/dashboard-types.ts';

it('has types for the dashboard that were made of the API as it is: npm run dashboard:types makes them', () => {
  const [, stamp = '', types = ''] = /^(\/\/ made by .*\n)([\s\S]*)$/.exec(readFileSync(typesFile, 'utf8')) ?? [];
  expect(stamp).toBe(stampOf(describedApi(), types));
});
