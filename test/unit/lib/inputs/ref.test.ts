import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { parseRef } from '../../../../lib/inputs/ref.ts';
import { fc, propertyRuns } from '../../../support/properties.ts';

describe('parseRef', () => {
  it.each([
    'main',
    'feature/login',
    'v1.2.3',
    'release-2026',
    'refs/heads/main',
    'HEAD',
    '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
    'ünïcode/分支',
    'a@b',
    'a'.repeat(255),
  ])('accepts %j as it is', (text) => {
    expect(parseRef(text)).toEqual({ ok: true, ref: text });
  });

  it.each([
    '',
    ' ',
    '\n',
    '-x',
    '--upload-pack=touch /tmp/x',
    'a b',
    'main\n',
    'main\r\nX: y',
    'a\0b',
    'a\u007fb',
    'a\u0085b',
    'a\u00a0b',
    'a\u200bb',
    'a\u202eb',
    'a\u2028b',
    'a\ud800',
    'a..b',
    'a@{1}',
    '@',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[b',
    'a\\b',
    '/a',
    'a/',
    'a//b',
    '.a',
    'a/.b',
    'a.lock',
    'a.lock/b',
    'a.LOCK',
    'a.',
    'a'.repeat(256),
  ])('refuses %j with one sentence', (text) => {
    const parsed = parseRef(text);
    expect(parsed.ok).toBe(false);
    if (!parsed.ok) expect(parsed.problem).toMatch(/^The ref [^\n]+\.$/);
  });

  it('accepts nothing that git refuses', () => {
    const character = fc.constantFrom(...'abAB.-/@{}~^:?*[]\\ \n\t_+=é', '.lock', '..', '@{', '//');
    const names = fc.sample(fc.string({ unit: character, minLength: 1, maxLength: 12 }), {
      numRuns: propertyRuns(3000),
    });
    const accepted = [...new Set(names.filter((name) => parseRef(name).ok))].slice(0, 60);
    expect(accepted.length).toBeGreaterThan(Math.min(propertyRuns(20), 50));
    const refused = accepted.filter(
      (name) => spawnSync('git', ['check-ref-format', '--allow-onelevel', name]).status !== 0,
    );
    expect(refused).toEqual([]);
  });
});
