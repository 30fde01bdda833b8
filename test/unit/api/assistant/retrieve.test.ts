import { expect, it } from 'vitest';
import { urlOf } from '../../../../api/assistant/retrieve.ts';
import { anyCharacter, fc, propertyRuns } from '../../../support/properties.ts';

const piece = fc.oneof(
  fc.constantFrom(
    '/',
    '\\',
    '?',
    '#',
    '\t',
    '\n',
    '\r',
    '\0',
    '.',
    '..',
    '%2e',
    '%2E',
    '%09',
    '@',
    ':',
    ' ',
    'evil.example',
  ),
  fc.string(),
  fc.string({ unit: anyCharacter }),
);
const paths = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));

/** The URL as browsers resolve it on a page of the site. */
const read = (address: string) => new URL(address, 'https://docs.example/tenant/page');

it('names an address on the site, whatever a repository calls its pages', () => {
  fc.assert(
    fc.property(paths, (path) => {
      expect(read(urlOf({ path, anchor: null }, null)).origin).toBe('https://docs.example');
      const below = read(urlOf({ path, anchor: null }, 'https://other.example/tenant'));
      expect(below.origin).toBe('https://other.example');
      expect(`${below.pathname}/`).toMatch(/^\/tenant\//);
    }),
    {
      numRuns: propertyRuns(5_000),
      examples: [['\t/evil.example/x'], ['\\evil.example/x'], ['../../x'], ['%2e%2E/x'], ['.. '], ['..?'], ['..#']],
    },
  );
});

it('leaves ordinary paths as they are', () => {
  expect(urlOf({ path: 'guides/install', anchor: 'linux' }, null)).toBe('/guides/install#linux');
  expect(urlOf({ path: 'guides/index', anchor: null }, 'https://a.example/')).toBe('https://a.example/guides');
  expect(urlOf({ path: 'index', anchor: null }, null)).toBe('/');
  const metadata = { url: 'https://b.example/x.html' };
  expect(urlOf({ path: 'docs/x', anchor: 'y', metadata }, 'https://a.example')).toBe('https://b.example/x.html#y');
  expect(urlOf({ path: 'v1.2/über uns/.hidden', anchor: null }, null)).toBe('/v1.2/über uns/.hidden');
});
