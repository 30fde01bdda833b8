import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'vitest';
import { buildIndex, type BuiltIndex } from '../../../search/build/build-index.ts';
import { readKnownPages, readKnownSources, sourceKey, UnreadError } from '../../../search/query/known-pages.ts';
import { readPages } from '../../../search/read/read-pages.ts';
import { readSources } from '../../../search/read/read-sources.ts';
import { fileOf, openWhole } from './build.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

type Files = ReadonlyMap<string, string>;

export const folder = temporaryDirectory();
export const queries = ['heron', 'walrus', 'token', 'createThing', 'retry limit', 'list users', 'note', 'heron walrus'];
let builds = 0;

export interface Build {
  file: string;
  built: BuiltIndex;
  /** Files that were read. */
  read: string[];
}

const newFile = () => join(folder, `${++builds}.db`);
const nameOf = (text: string) => createHash('sha1').update(text).digest('hex');

export async function buildFull(files: Files): Promise<Build> {
  const file = newFile();
  const built = buildIndex(await readPages([...files].map(([path, text]) => fileOf(path, text))), { file });
  return { file, built, read: [...files.keys()] };
}

/** Like the indexing of a site: known files stay unread, and everything is read if that is not enough. */
export async function buildChanged(files: Files, previous: Build | null): Promise<Build> {
  const known = previous === null ? new Set<string>() : readKnownSources(previous.file);
  const isRead = (path: string, text: string) => !known.has(sourceKey({ file: path, name: nameOf(text) }));
  try {
    return await build(files, previous, isRead);
  } catch (error) {
    if (!(error instanceof UnreadError)) throw error;
    return build(files, previous, () => true);
  }
}

async function build(
  files: Files,
  previous: Build | null,
  isRead: (path: string, text: string) => boolean,
): Promise<Build> {
  const file = newFile();
  const read: string[] = [];
  const unread: string[] = [];
  const sources = [...files].map(([path, text]) => {
    (isRead(path, text) ? read : unread).push(path);
    return {
      path,
      name: nameOf(text),
      read() {
        if (isRead(path, text)) return text;
        throw new UnreadError(path);
      },
    };
  });
  const known = unread.length > 0 && previous !== null ? readKnownPages(previous.file) : null;
  const { pages, navigation } = await readSources([{ prefix: '', weight: 1, files: sources }], known);
  const built = buildIndex(pages, { file, navigation, ...(previous !== null && { previousFile: previous.file }) });
  return { file, built, read };
}

export function expectSame(one: Build, two: Build): void {
  const { changedPages: _one, ...oneBuilt } = one.built;
  const { changedPages: _two, ...twoBuilt } = two.built;
  expect(oneBuilt).toEqual(twoBuilt);
  using changed = openWhole(one.file);
  using full = openWhole(two.file);
  expect(changed.pages({ from: 0, limit: 1_000 })).toEqual(full.pages({ from: 0, limit: 1_000 }));
  for (const { path } of full.pages({ from: 0, limit: 1_000 })) expect(changed.page(path)).toEqual(full.page(path));
  for (const query of queries) {
    for (const filter of [null, { language: 'de' }, { version: '2' }, { tag: 'setup' }]) {
      const request = { query, limit: 20, filter, currentPath: 'guides/a' };
      expect(changed.search(request)).toEqual(full.search(request));
    }
  }
}
