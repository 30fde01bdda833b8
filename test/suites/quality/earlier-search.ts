import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { SourceFile } from '../../../search/read/source-file.ts';
import type { SearchRequest } from '../../../search/query/search-request.ts';

/** Where the modules of the search are, the latest place first. */
const places = {
  readPages: ['search/read/read-pages.ts', 'search/read-pages.ts'],
  buildIndex: ['search/build/build-index.ts', 'search/build-index.ts'],
  openSiteIndex: ['search/query/site-index.ts', 'search/site-index.ts'],
} as const;

const searchSchema = z.object({ search: z.custom<(request: SearchRequest) => unknown>(isFunction) });
const hitsSchema = z.array(z.object({ path: z.string() }));

/**
 * Indexes files with the search of another checkout, whose modules are installed there. Returns the paths of the
 * passages that it finds, best first.
 */
export async function openEarlierSearch(
  checkout: string,
  { files, file }: { files: SourceFile[]; file: string },
): Promise<(request: SearchRequest) => string[]> {
  const call = async (name: keyof typeof places, ...values: unknown[]): Promise<unknown> => {
    const place = places[name].map((path) => join(checkout, path)).find((path) => existsSync(path));
    if (place === undefined) throw new Error(`${checkout} has no ${places[name][0]}.`);
    const module: unknown = await import(place);
    const found = z.record(z.string(), z.unknown()).parse(module)[name];
    if (!isFunction(found)) throw new Error(`${place} exports no ${name}.`);
    return Reflect.apply(found, null, values);
  };
  await call('buildIndex', await call('readPages', files), { file });
  const opened = z.looseObject({}).parse(await call('openSiteIndex', file));
  // later ones are opened for a reader
  const index = isFunction(opened['as']) ? Reflect.apply(opened['as'], opened, ['all']) : opened;
  const { search } = searchSchema.parse(index);
  return (request) => hitsSchema.parse(search(request)).map(({ path }) => path);
}

function isFunction(value: unknown): value is (...values: unknown[]) => unknown {
  return typeof value === 'function';
}
