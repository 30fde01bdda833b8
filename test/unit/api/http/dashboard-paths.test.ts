import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { appPaths } from '../../../../api/http/files/dashboard.ts';

it('the API serves the app at every path that the app has', () => {
  const router = readFileSync(resolve(import.meta.dirname, '../../../../dashboard/router.tsx'), 'utf8');
  const paths = [...router.matchAll(/^ {2}path: '(.+)',$/gm)].map(([, path]) => path ?? '');
  expect(paths.length).toBeGreaterThan(10);
  expect(paths.filter((path) => !appPaths.test(path))).toEqual([]);
});
