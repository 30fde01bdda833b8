import { describe, expect, it } from 'vitest';
import { covers, coversMerges, grantTargetOf, parseGrant, widerGrants } from '../../../../lib/inputs/grants.ts';
import { parseRepository } from '../../../../lib/inputs/repository.ts';
import { fc, propertyRuns } from '../../../support/properties.ts';

const resourceOf = (text: string) => {
  const parsed = parseGrant(text);
  return parsed.ok ? parsed.resource : null;
};

describe('parseGrant', () => {
  it.each([
    ['*', '*'],
    ['https://github.com/acme/*', 'https://github.com/acme/*'],
    ['HTTPS://GitHub.com/Acme/*', 'https://github.com/acme/*'],
    ['https://github.com:443/acme/docs.git', 'https://github.com/acme/docs'],
    ['https://github.com/Acme/Docs/', 'https://github.com/acme/docs'],
    ['https://github.com/*', 'https://github.com/*'],
    ['http://git.test:3000/group/sub/*', 'http://git.test:3000/group/sub/*'],
    ['/srv/git/acme/*', '/srv/git/acme/*'],
    ['/srv/git/Lamp.git/', '/srv/git/Lamp.git'],
    ['/*', '/*'],
    ['merge:https://GitHub.com/Acme/*', 'merge:https://github.com/acme/*'],
    ['merge:https://github.com/acme/docs.git', 'merge:https://github.com/acme/docs'],
  ])('reads %s as %s', (text, resource) => {
    expect(resourceOf(text)).toBe(resource);
    expect(resourceOf(resource)).toBe(resource);
  });

  it.each([
    '',
    '**',
    'acme/*',
    '/',
    '//*',
    '/srv//git',
    '/srv/git//',
    '/srv/*/git',
    '/srv/../etc',
    '/srv/./git/*',
    '/srv/git/*/*',
    '/srv/git\n/*',
    'https://github.com',
    'https://github.com/',
    'https://github.com/acme',
    'https://github.com/*/docs',
    'https://github.com/acme*',
    'https://github.com/ac*/docs',
    'https://github.com/acme/../evil/*',
    'https://github.com/acme%2f*',
    'https://github.com/acme//docs',
    'https://github.com/acme.git/*',
    'https://user@github.com/acme/*',
    'https://github.com/acme/docs?x',
    'https://*/acme/docs',
    'https://*.github.com/acme/docs',
    'ssh://git@github.com/acme/docs',
    'git@github.com:acme/docs',
    'file:///srv/git/*',
    'merge:*',
    'merge:/srv/git/lamp.git',
    'merge:/*',
    'merge:merge:https://github.com/acme/docs',
    'Merge:https://github.com/acme/docs',
  ])('refuses %j with one sentence', (text) => {
    expect(parseGrant(text)).toEqual({ ok: false, problem: expect.stringMatching(/^A grant must be [^\n]+\.$/) });
  });
});

it('names the grants that cover what another one does', () => {
  const resources = [
    '*',
    'https://github.com/*',
    'https://github.com/acme/*',
    'https://github.com/acme/lamp',
    '/srv/*',
  ];
  expect(widerGrants(resources, 'https://github.com/acme/lamp')).toEqual(resources.slice(0, 3));
  expect(widerGrants(resources.slice(1), 'https://github.com/acme/team/*')).toEqual(resources.slice(1, 3));
  expect(widerGrants(resources.slice(1), 'https://github.com.evil/x')).toEqual([]);
  expect(widerGrants(['/srv/*'], '/srv2/x')).toEqual([]);
  const ofMerges = ['*', 'merge:https://github.com/*'];
  expect(widerGrants([...resources, ...ofMerges], 'merge:https://github.com/acme/lamp')).toEqual(['*', ...ofMerges]);
});

it('keeps merges apart from every other use', () => {
  const lamp = 'https://github.com/acme/lamp';
  for (const resource of [lamp, 'https://github.com/acme/*', 'https://github.com/*']) {
    expect(coversMerges([resource], lamp)).toBe(false);
    expect(coversMerges([`merge:${resource}`], `${lamp}.git`)).toBe(true);
    expect(covers([`merge:${resource}`], lamp)).toBe(false);
  }
  expect(coversMerges(['*'], lamp)).toBe(true);
  expect(coversMerges(['merge:https://github.com/acme/*'], 'https://github.com/acme2/lamp')).toBe(false);
});

describe('covers', () => {
  it.each([
    ['https://github.com/acme/*', 'https://github.com/Acme/docs', true],
    ['https://github.com/acme/*', 'https://github.com/acme/sub/docs.git', true],
    ['https://github.com/acme/*', 'https://github.com/acme2/docs', false],
    ['https://github.com/acme/*', 'https://github.com/acme', false],
    ['https://github.com/acme/*', 'http://github.com/acme/docs', false],
    ['https://github.com/acme/*', 'https://github.com:8443/acme/docs', false],
    ['https://github.com/acme/*', 'https://github.com.evil.test/acme/docs', false],
    ['https://github.com/acme/*', 'https://github.com/acme/../evil/docs', false],
    ['https://github.com/acme/*', 'https://github.com/acme/%2e%2e/evil', false],
    ['https://github.com/acme/*', 'https://github.com/acme//docs', false],
    ['https://github.com/acme/docs', 'https://github.com/acme/docs.git/', true],
    ['https://github.com/acme/docs', 'https://github.com/acme/docs/more', false],
    ['https://github.com/acme/docs', 'https://github.com/acme/docs.git.git', false],
    ['/srv/git/acme/*', '/srv/git/acme/lamp.git', true],
    ['/srv/git/acme/*', '/srv/git/Acme/lamp.git', false],
    ['/srv/git/acme/*', '/srv/git/acme', false],
    ['/srv/git/acme/*', '/srv/git/acme-2/lamp.git', false],
    ['/srv/git/acme/*', '/srv/git/acme/../b/lamp.git', false],
    ['/srv/git/acme/*', '/srv/git/acme/*', false],
    ['/srv/git/lamp', '/srv/git/lamp.git', false],
    ['/*', '/srv/git/lamp.git', true],
    ['/*', 'https://github.com/acme/docs', false],
    ['*', 'https://github.com/acme/docs', true],
  ])('%s and %s: %s', (resource, place, expected) => {
    expect(covers([resource], place)).toBe(expected);
    expect(covers(['/none', resource], place)).toBe(expected);
    expect(covers([], place)).toBe(false);
  });

  it('agrees with a simple model of grants and repositories in 10,000 generated cases', () => {
    const counts = { covered: 0, refused: 0 };
    fc.assert(
      fc.property(pairs, ([grant, place]) => {
        const resource = resourceOf(grant);
        const expected = slowlyCovers(grant, place);
        expect(resource !== null && covers([resource], place)).toBe(expected);
        counts[expected ? 'covered' : 'refused'] += 1;
        if (resource !== null) expect(resourceOf(resource)).toBe(resource);
      }),
      { numRuns: propertyRuns(10_000) },
    );
    expect(counts.covered).toBeGreaterThan(propertyRuns(800));
    expect(counts.refused).toBeGreaterThan(propertyRuns(800));
  });

  it('treats every spelling of a repository as the same one', () => {
    const rules = { allowedHosts: ['github.com', 'git.test:8443'], localRoot: '/srv' };
    let same = 0;
    fc.assert(
      fc.property(pairs, ([grant, place]) => {
        const parsed = parseRepository(place, rules);
        const resource = resourceOf(grant);
        if (!parsed.ok || resource === null) return;
        expect(covers([resource], parsed.repository)).toBe(covers([resource], place));
        same += 1;
      }),
      { numRuns: propertyRuns(10_000) },
    );
    expect(same).toBeGreaterThan(propertyRuns(500));
  });
});

it('names a repository over ssh as its forge does', () => {
  expect(grantTargetOf('ssh://git@github.com/acme/docs', null)).toBe('https://github.com/acme/docs');
  expect(grantTargetOf('ssh://git@ssh.github.com/acme/docs', null)).toBe('https://github.com/acme/docs');
  expect(grantTargetOf('ssh://git@git.test:2222/a/b', 'http://git.test:3000')).toBe('http://git.test:3000/a/b');
  expect(grantTargetOf('/srv/git/lamp.git', null)).toBe('/srv/git/lamp.git');
});

const names = fc.constantFrom(
  'acme',
  'Acme',
  'acme2',
  'docs',
  'docs.git',
  'lamp',
  '.',
  '..',
  '',
  '%2f',
  'a*',
  '*',
  '~x',
);
const roots = fc.constantFrom(
  'https://github.com',
  'https://github.com',
  '/srv',
  'HTTPS://GitHub.com',
  'https://github.com:443',
  'https://git.test:8443',
  'http://github.com',
  'https://user@github.com',
  '/srv',
  '',
);
const likely = fc.constantFrom('acme', 'Acme', 'docs', 'docs.git', 'lamp');
const segments = fc.oneof({ weight: 12, arbitrary: likely }, { weight: 1, arbitrary: names });
const addressOf = (ends: string[], maxLength: number) =>
  fc
    .tuple(roots, fc.array(segments, { minLength: 0, maxLength }), fc.constantFrom(...ends))
    .map(([root, parts, end]) => [root, ...parts].join('/') + end);
const grants = fc.oneof(
  { weight: 1, arbitrary: fc.constant('*') },
  { weight: 30, arbitrary: addressOf(['/*', '/*', '', '/', '.git'], 2) },
);
const ends = ['', '', '/', '.git', '.GIT/'];
const places = addressOf(ends, 3);
/** Half of them share a prefix. */
const pairs = fc.oneof(
  fc.tuple(grants, places),
  fc
    .tuple(
      addressOf([''], 2),
      fc.constantFrom('/*', '/*', ''),
      fc.array(segments, { maxLength: 2 }),
      fc.constantFrom(...ends),
    )
    .map(([start, end, more, tail]): [string, string] => [start + end, [start, ...more].join('/') + tail]),
);

/** The rules, applied character by character and part by part. */
function slowlyCovers(grant: string, place: string): boolean {
  if (grant === '*') return true;
  const isBelow = grant.length >= 2 && grant[grant.length - 1] === '*' && grant[grant.length - 2] === '/';
  const granted = readSlowly(isBelow ? grant.slice(0, grant.length - 2) : grant, isBelow);
  const asked = readSlowly(place, false);
  if (granted === null || asked === null || granted[0] !== asked[0]) return false;
  if (isBelow ? asked.length <= granted.length : asked.length !== granted.length) return false;
  for (let at = 0; at < granted.length; at += 1) if (granted[at] !== asked[at]) return false;
  return true;
}

/** The server and the parts of a path, or null. */
function readSlowly(text: string, isBelow: boolean): string[] | null {
  const isPath = text === '' ? isBelow : text[0] === '/';
  if (isPath) {
    const parts = text.split('/').slice(1);
    if (!isBelow && parts.length > 1 && parts[parts.length - 1] === '') parts.pop();
    if (!isBelow && parts.length === 1 && parts[0] === '') return null;
    for (const part of parts) if (['', '.', '..', '*'].includes(part)) return null;
    return ['', ...parts];
  }
  const at = text.indexOf('://');
  const scheme = text.slice(0, at).toLowerCase();
  if (at < 0 || (scheme !== 'https' && scheme !== 'http')) return null;
  const [authority = '', ...parts] = text
    .slice(at + 3)
    .toLowerCase()
    .split('/');
  const [host = '', port] = authority.split(':');
  if (host === '' || authority.includes('@')) return null;
  const isUsual = port === undefined || port === (scheme === 'https' ? '443' : '80');
  if (!isBelow && parts.at(-1) === '') parts.pop();
  const last = parts.at(-1);
  if (!isBelow && last !== undefined && last.endsWith('.git')) parts[parts.length - 1] = last.slice(0, -4);
  for (const part of parts) {
    if (['', '.', '..'].includes(part) || part.endsWith('.git')) return null;
    for (const letter of part) if (!'abcdefghijklmnopqrstuvwxyz0123456789._~+-'.includes(letter)) return null;
  }
  if (!isBelow && parts.length < 2) return null;
  return [`${scheme} ${isUsual ? host : authority}`, ...parts];
}
