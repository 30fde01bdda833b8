import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { BuiltIndex } from '../../search/build/build-index.ts';
import type { SourceReport } from '../../search/read/read-pages.ts';
import type { FoundSource } from '../../search/read/read-sources.ts';
import { runInThread, type ThreadChunk } from '../../lib/threads/run-in-thread.ts';
import type { FolderFile } from '../workspaces/source-folder.ts';

/** Input of a build, without the files. */
export interface IndexBuildInput {
  /** The sources of the site, in order. */
  parts: BuildPart[];
  /** Path of the artifact to write. */
  file: string;
  /** Artifact of the previous version, whose unchanged pages are reused. */
  previousFile?: string;
  /** Artifact of an older format, if that is the previous one: pages of sources that cannot be read are taken from it. */
  olderFile?: string;
}

/** Input of the build thread, before the files. */
export interface IndexBuildData extends IndexBuildInput {
  /** Sends `IncludedRequest`, and receives the files. */
  included: MessagePort;
}

/** Files that the pages of a source include. */
export interface IncludedRequest {
  part: number;
  paths: string[];
}

interface BuildPart {
  prefix: string;
  weight: number;
  /** Its pages are those of the previous artifact, because it could not be read. */
  isKept: boolean;
  /** Its files are pages that have been read already. */
  isParsed: boolean;
  /** Its earlier pages must be removed, even if no page remains. */
  isWithdrawn: boolean;
}

/** A file, with the position of its source. */
export type BuildFile = FolderFile & { part: number };

/** Some of the files; the last message is null. */
export type IndexBuildMessage = BuildFile[] | null;

export interface IndexBuildRequest extends IndexBuildInput {
  files: BuildFile[];
  readIncluded(request: IncludedRequest): Promise<FolderFile[]>;
  signal: AbortSignal;
}

/** `unread`: files without their content are needed. `no-pages`: the files contain no pages. */
export type BuildResult = (BuiltIndex & BuildReport) | 'unread' | 'no-pages';

interface BuildReport {
  report: SourceReport;
  found: FoundSource[];
  /** Pages include files that are not among those of their source. */
  hasIncludes: boolean;
}

const filesPerChunk = 1_000;

/** Builds an index in a thread and transfers the file contents to it. An abort ends the thread and rejects. */
export async function buildIndexInThread({
  signal,
  files,
  readIncluded,
  ...data
}: IndexBuildRequest): Promise<BuildResult> {
  const { port1: port, port2: included } = new MessageChannel();
  const failed = new AbortController();
  port.on('message', (request: IncludedRequest) => {
    readIncluded(request).then(
      (found) => port.postMessage(found),
      (error) => failed.abort(error),
    );
  });
  try {
    return await runInThread<IndexBuildData, BuildResult>({
      script: new URL('./index-build-thread.ts', import.meta.url),
      data: { ...data, included },
      transfer: [included],
      chunks: chunksOf(files),
      signal: AbortSignal.any([signal, failed.signal]),
    });
  } finally {
    port.close();
  }
}

/** A chunk ends where no later file has its content in the same buffer: a transferred buffer cannot be sent again. */
function* chunksOf(files: readonly BuildFile[]): Generator<ThreadChunk> {
  const lastUses = new Map(files.map(({ content }, at) => [content?.buffer, at]));
  let start = 0;
  let end = filesPerChunk;
  for (const [at, { content }] of files.entries()) {
    if (content !== null) end = Math.max(end, (lastUses.get(content.buffer) ?? at) + 1);
    if (at + 1 < end) continue;
    yield chunkOf(files.slice(start, end));
    start = end;
    end = start + filesPerChunk;
  }
  yield chunkOf(files.slice(start));
  yield chunkOf(null);
}

/** Small buffers are copied: they may be part of Node's pool, which cannot be transferred. */
function chunkOf(message: IndexBuildMessage): ThreadChunk {
  const buffers = (message ?? []).flatMap(({ content }) =>
    content?.buffer instanceof ArrayBuffer ? [content.buffer] : [],
  );
  return { message, transfer: [...new Set(buffers)].filter(({ byteLength }) => byteLength > Buffer.poolSize) };
}
