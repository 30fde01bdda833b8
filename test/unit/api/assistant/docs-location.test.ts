import { expect, it } from 'vitest';
import { docsLocationOf, sectionOf } from '../../../../api/assistant/docs-location.ts';

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
  const locationOf = (viewed: string | null, cited: string[], found: string[]) =>
    docsLocationOf(index, { viewed, cited, found: found.flatMap((path) => index.page(path) ?? []) });
  expect(locationOf('install', ['v1/api/users/create'], ['de/v2/guides/retries'])).toEqual({
    topic: 'api/users',
    version: null,
    language: 'en',
  });
  expect(locationOf(null, [], ['de/v2/guides/retries'])).toEqual({ topic: 'guides', version: 'v2', language: 'de' });
  expect(locationOf('install', [], [])).toEqual({ topic: 'install', version: null, language: 'en' });
  expect(locationOf('no/such', [], [])).toEqual({ topic: null, version: null, language: null });
});

it('names the folder of a page, without its version and language', () => {
  const section = (path: string, metadata = {}) => sectionOf({ path, metadata });
  expect(section('guides/advanced/retries')).toBe('guides/advanced');
  expect(section('index')).toBe('index');
  expect(section('v1/install', { version: 'v1' })).toBe('install');
  expect(section('v1', { version: 'v1' })).toBe('v1');
});
