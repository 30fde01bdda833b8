import { parentPort, workerData } from 'node:worker_threads';
import { buildIndex } from '../../search/build/build-index.ts';
import { readAllPages, readKnownPages, UnreadError } from '../../search/query/known-pages.ts';
import { createOwnerOf, readSources } from '../../search/read/read-sources.ts';
import { websiteLayout } from '../../search/read/layouts/website.ts';
import type { BuildFile, BuildResult, IndexBuildData, IndexBuildMessage } from './index-build.ts';

/** Reads pages and builds an index in a separate thread, so that the worker's heartbeats continue. */

const { file, previousFile, parts }: IndexBuildData = workerData;
const files: BuildFile[] = [];
const decoder = new TextDecoder();

function read({ path, content }: BuildFile): string {
  if (content === null) throw new UnreadError(`The file ${path} was not read.`);
  return decoder.decode(content);
}

async function build(): Promise<BuildResult> {
  const isLasting = parts.some(({ isKept }) => isKept);
  const isPartial = files.some(({ content }) => content === null);
  const known = (isPartial || isLasting) && previousFile !== undefined ? readKnownPages(previousFile) : null;
  const earlier = isLasting && previousFile !== undefined ? readAllPages(previousFile) : [];
  const ownerOf = createOwnerOf(parts);
  const sources = parts.map(({ prefix, weight, isKept, isParsed }, at) => ({
    prefix,
    weight,
    files: files
      .filter(({ part }) => part === at)
      .map((entry) => ({ path: entry.path, name: entry.name, read: () => read(entry) })),
    ...(isParsed && { layout: websiteLayout }),
    ...(isKept && { kept: earlier.filter(({ path }) => ownerOf(path) === prefix) }),
  }));
  try {
    const { pages, navigation, suffix, report, counts } = await readSources(sources, known);
    if (pages.length === 0 && !parts.some(({ isWithdrawn }) => isWithdrawn)) return 'no-pages';
    return { ...buildIndex(pages, { file, previousFile, navigation, suffix, isLasting }), report, counts };
  } catch (error) {
    if (error instanceof UnreadError) return 'unread';
    throw error;
  }
}

parentPort?.on('message', (some: IndexBuildMessage) => {
  if (some === null) void build().then((result) => parentPort?.postMessage(result));
  else files.push(...some);
});
