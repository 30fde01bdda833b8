import { parentPort, workerData } from 'node:worker_threads';
import { buildIndex } from '../../search/build/build-index.ts';
import { readKnownPages, UnreadError } from '../../search/query/known-pages.ts';
import { readChangedPages } from '../../search/read/read-pages.ts';
import type { FolderFile } from '../workspaces/source-folder.ts';
import type { BuildResult, IndexBuildData, IndexBuildMessage } from './index-build.ts';

/** Reads pages and builds an index in a separate thread, so that the worker's heartbeats continue. */

const { file, previousFile }: IndexBuildData = workerData;
const files: FolderFile[] = [];
const decoder = new TextDecoder();

function read({ path, content }: FolderFile): string {
  if (content === null) throw new UnreadError(`The file ${path} was not read.`);
  return decoder.decode(content);
}

async function build(): Promise<BuildResult> {
  const isPartial = files.some(({ content }) => content === null);
  const known = isPartial && previousFile !== undefined ? readKnownPages(previousFile) : null;
  const sources = files.map((entry) => ({ path: entry.path, name: entry.name, read: () => read(entry) }));
  try {
    const { pages, navigation, suffix, report } = await readChangedPages(sources, known);
    if (pages.length === 0) return 'no-pages';
    return { ...buildIndex(pages, { file, previousFile, navigation, suffix }), report };
  } catch (error) {
    if (error instanceof UnreadError) return 'unread';
    throw error;
  }
}

parentPort?.on('message', (some: IndexBuildMessage) => {
  if (some === null) void build().then((result) => parentPort?.postMessage(result));
  else files.push(...some);
});
