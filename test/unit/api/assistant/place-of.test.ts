import { expect, it } from 'vitest';
import { placeOf, sectionOf } from '../../../../api/assistant/place-of.ts';

const metadataOf: Record<string, { version?: string; language?: string }> = {
  'de/v2/guides/retries': { version: 'v2', language: 'de' },
  'v1/api/users/create': { version: 'v1' },
  install: { language: 'en' },
};
const index = {
  page(path: string) {
    const metadata = metadataOf[path];
    return metadata === undefined ? null : { path, content: '', metadata: { title: path, ...metadata } };
  },
};

it('takes the topic from what is cited or found, and version and language from what the reader looks at', () => {
  const place = (viewed: string | null, cited: string[], found: string[]) =>
    placeOf(index, { viewed, cited, found: found.flatMap((path) => index.page(path) ?? []) });
  expect(place('install', ['v1/api/users/create'], ['de/v2/guides/retries'])).toEqual({
    topic: 'api/users',
    version: null,
    language: 'en',
  });
  expect(place(null, [], ['de/v2/guides/retries'])).toEqual({ topic: 'guides', version: 'v2', language: 'de' });
  expect(place('install', [], [])).toEqual({ topic: 'install', version: null, language: 'en' });
  expect(place('no/such', [], [])).toEqual({ topic: null, version: null, language: null });
});

it('names the folder of a page, without its version and language', () => {
  const section = (path: string, metadata = {}) => sectionOf({ path, metadata });
  expect(section('guides/advanced/retries')).toBe('guides/advanced');
  expect(section('index')).toBe('index');
  expect(section('v1/install', { version: 'v1' })).toBe('install');
  expect(section('v1', { version: 'v1' })).toBe('v1');
});
