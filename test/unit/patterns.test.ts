import { afterAll, expect, it, vi } from 'vitest';
import { problemsOf } from '../suites/patterns/check.ts';
import { expressionsOf } from '../suites/patterns/collect.ts';

const at = 'a.ts:1';

// its program for this platform is quicker, but takes longer to start
vi.stubEnv('RECHECK_SYNC_BACKEND', 'pure');
afterAll(() => {
  vi.unstubAllEnvs();
});

it.each([
  ['exponential', '^(?:a|a)*$'],
  ['quadratic', String.raw`\s+$`],
  ['quadratic beside a look-around', String.raw`(?!a)\s+$`],
  ['unreadable', '('],
])('the check on regular expressions reports one that is %s', (_name, source) => {
  expect(problemsOf([{ source, flags: '', at }], [])).toEqual([expect.stringContaining(at)]);
});

it('the check on regular expressions accepts linear ones and needed exceptions only', () => {
  const patterns = ['^a+$', String.raw`(?<!\s)\s+$`, 'a+$'].map((source) => ({ source, flags: 'g', at }));
  const needed = { pattern: /a+$/g, reason: 'short' };
  expect(problemsOf(patterns, [needed])).toEqual([]);
  expect(problemsOf(patterns, [needed, { pattern: /b+$/g, reason: 'short' }])).toEqual([
    expect.stringContaining('/b+$/g'),
  ]);
});

it('regular expressions are found in literals and calls of the constructor', () => {
  const text = "const a = /x\\n/g;\n  f(new RegExp(`^${b}\\\\d` + 'c', 'u'), RegExp(String.raw`\\s{${b}}`));";
  expect(expressionsOf('a.ts', text)).toEqual({
    literals: [{ source: 'x\\n', flags: 'g', at }],
    calls: [
      { source: '^3\\dc', flags: 'u', at: 'a.ts:2', column: 5 },
      { source: '\\s{3}', flags: '', at: 'a.ts:2', column: 40 },
    ],
  });
});
