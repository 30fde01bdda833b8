import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { buildIndex } from '../../search/build/build-index.ts';
import {
  readAllPages,
  readKnownPages,
  readStoredPages,
  UnreadError,
  type WantedPage,
} from '../../search/query/known-pages.ts';
import { createOwnerOf, readSources } from '../../search/read/read-sources.ts';
import { websiteLayout } from '../../search/read/layouts/website.ts';
import type { SourceFile } from '../../search/read/source-file.ts';
import type { FolderFile } from '../workspaces/source-folder.ts';
import type { BuildFile, BuildResult, IncludedRequest, IndexBuildData, IndexBuildMessage } from './index-build.ts';

/** Reads pages and builds an index in a separate thread, so that the worker's heartbeats continue. */

const { file, previousFile, olderFile, parts, included }: IndexBuildData = workerData;
const files: BuildFile[] = [];
const decoders = {
  'utf-8': new TextDecoder('utf-8'),
  'utf-16le': new TextDecoder('utf-16le'),
  'utf-16be': new TextDecoder('utf-16be'),
};

function read({ path, content }: FolderFile): string {
  if (content === null) throw new UnreadError(`The file ${path} was not read.`);
  return decoders[encodingOf(content)].decode(content);
}

/** Windows PowerShell writes UTF-16, which begins with a byte order mark. */
function encodingOf([first, second]: Uint8Array): keyof typeof decoders {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

let hasIncludes = false;

/** Asks the worker for files that the pages of a source include. */
async function readIncluded(request: IncludedRequest): Promise<SourceFile[]> {
  hasIncludes = true;
  included.postMessage(request);
  const [found] = await once(included, 'message');
  const files: FolderFile[] = found;
  return files.map((file) => ({ path: file.path, name: file.name, read: () => read(file) }));
}

function earlierPages(): WantedPage[] {
  if (previousFile !== undefined) return readAllPages(previousFile);
  return olderFile === undefined ? [] : readStoredPages(olderFile);
}

async function build(): Promise<BuildResult> {
  const isLasting = parts.some(({ isKept }) => isKept);
  const isPartial = files.some(({ content, isTooLarge }) => content === null && !isTooLarge);
  const known = (isPartial || isLasting) && previousFile !== undefined ? readKnownPages(previousFile) : null;
  const earlier = isLasting ? earlierPages() : [];
  const ownerOf = createOwnerOf(parts);
  const sources = parts.map(({ prefix, weight, isKept, isParsed }, at) => ({
    prefix,
    weight,
    files: files.filter(({ part }) => part === at).map((entry) => ({ ...entry, read: () => read(entry) })),
    ...(isParsed && { layout: websiteLayout }),
    readIncluded: (paths: string[]) => readIncluded({ part: at, paths }),
    ...(isKept && { kept: earlier.filter(({ path }) => ownerOf(path) === prefix) }),
  }));
  try {
    const { pages, navigation, suffix, report, found } = await readSources(sources, known);
    if (pages.length === 0 && !parts.some(({ isWithdrawn }) => isWithdrawn)) return 'no-pages';
    return { ...buildIndex(pages, { file, previousFile, navigation, suffix, isLasting }), report, found, hasIncludes };
  } catch (error) {
    if (error instanceof UnreadError) return 'unread';
    throw error;
  }
}

parentPort?.on('message', (some: IndexBuildMessage) => {
  if (some === null) void build().then((result) => parentPort?.postMessage(result));
  else files.push(...some);
});
