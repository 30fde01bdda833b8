import { expect, it } from 'vitest';
import { readYaml } from '../../../../lib/inputs/yaml.ts';

const read = (text: string) => readYaml(text, { maxAliases: 10 });
const nested = (open: string, close: string, times: number) => `${open.repeat(times)}a${close.repeat(times)}`;

it.each([
  ['maps as keys', '? '.repeat(100) + 'a', 'has a key that is not a single value'],
  ['maps as keys, in one line', nested('{', '}', 100), 'has a key that is not a single value'],
  ['a list as a key', '[a, b]: c', 'has a key that is not a single value'],
  ['an alias as a key', 'a: &x 1\n*x : 2', 'has a key that is not a single value'],
  ['101 lists', nested('[', ']', 101), 'is nested too deeply'],
  ['101 lists in a line', '- '.repeat(101) + 'a', 'is nested too deeply'],
  ['101 maps in a line', '? '.repeat(101) + 'a', 'is nested too deeply'],
  ['a key twice', 'a: 1\nb: 2\na: 3', 'has the key "a" twice'],
  ['an alias without an anchor', 'a: *x', 'has an alias without an anchor, or too many aliases'],
  ['an alias too many', `a: &x 1\nb: [${'*x, '.repeat(11)}]`, 'has an alias without an anchor, or too many aliases'],
  ['half a list', '[a', 'is not YAML: '],
])('refuses %s', (_what, text, problem) => {
  expect(() => read(text)).toThrow(problem);
  expect(() => read(text)).toThrow(SyntaxError);
});

it('reads values, aliases and 20,000 keys', () => {
  expect(read('a: &x [1, true]\nb: *x\n2: null\n~: c')).toEqual({ a: [1, true], b: [1, true], 2: null, '': 'c' });
  expect(read('')).toBeNull();
  expect(read(nested('[', ']', 100))).toHaveLength(1);
  expect(read(Array.from({ length: 300 }, (_, at) => `${' '.repeat(at)}-`).join('\n'))).toHaveLength(1);
  expect(read('- [{a: [1]}]\n'.repeat(1_000))).toHaveLength(1_000);
  const keys = Array.from({ length: 20_000 }, (_, at) => `k${at}: ${at}`).join('\n');
  expect(Object.keys(Object(read(keys)))).toHaveLength(20_000);
});

it('refuses aliases where they are not allowed, and lets keys be repeated that may be', () => {
  expect(() => readYaml('a: &x 1\nb: *x', { maxAliases: 0 })).toThrow('has an alias (*name), which is not supported');
  const onceOf = (key: unknown) => (key === 'a' || key === 'A' ? 'a' : undefined);
  expect(readYaml('b: 1\nb: 2\na: 3', { maxAliases: 0, onceOf })).toEqual({ b: 2, a: 3 });
  expect(() => readYaml('A: 1\na: 2', { maxAliases: 0, onceOf })).toThrow('has the key "a" twice');
});
