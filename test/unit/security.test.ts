import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const checkout = resolve(import.meta.dirname, '../..');
const text = readFileSync(join(checkout, 'SECURITY.md'), 'utf8');
const tests = globSync('test/**/*.test.ts', { cwd: checkout });
const scripts = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')).scripts;
const promises = text.slice(text.indexOf('## What is promised'), text.indexOf('## What is not promised'));

const sections = promises.split(/\n\n(?=\*\*)/).slice(1);
const items = promises.split(/\n(?=- |\n)/).filter((part) => part.startsWith('- '));

/** The tests and programs that a text names. */
const namedBy = (part: string) => part.match(/[\w./-]+\.test\.ts|npm run [\w:-]+/g) ?? [];

describe('SECURITY.md', () => {
  it('names existing tests and programs', () => {
    expect(items.length).toBeGreaterThan(40);
    const isThere = (named: string) =>
      named.startsWith('npm run ') ? named.slice('npm run '.length) in scripts : tests.includes(named);
    expect(namedBy(text).length).toBeGreaterThan(40);
    expect(namedBy(text).filter((named) => !isThere(named))).toEqual([]);
  });

  it.each([...sections, ...items])('names a test that holds the promise %#', (promise) => {
    expect(namedBy(promise), promise.slice(0, 60)).not.toEqual([]);
  });
});

describe('the dependencies', () => {
  it('run no install script that is not allowed', () => {
    const { allowScripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
    const { packages } = JSON.parse(readFileSync(join(checkout, 'package-lock.json'), 'utf8'));
    const withScripts = Object.keys(packages)
      .filter((path) => packages[path].hasInstallScript === true)
      .map((path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
    expect(withScripts.length).toBeGreaterThan(5);
    expect(withScripts.filter((name) => !(name in allowScripts))).toEqual([]);
    expect(readFileSync(join(checkout, '.npmrc'), 'utf8')).toMatch(/^strict-allow-scripts=true$/m);
  });
});
