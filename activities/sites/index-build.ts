import type { BuiltIndex } from '../../search/build/build-index.ts';
import { runInThread } from '../../lib/threads/run-in-thread.ts';
import type { FolderFile } from '../workspaces/source-folder.ts';

/** What the thread is given. */
export interface IndexBuildData {
  files: FolderFile[];
  /** Where the artifact goes. */
  file: string;
  /** Artifact of the version before, whose unchanged pages are taken over. */
  previousFile?: string;
}

export interface IndexBuildRequest extends IndexBuildData {
  signal: AbortSignal;
}

/** `unread`: files that came without their content are needed; `no-pages`: the files hold none. */
export type BuildResult = BuiltIndex | 'unread' | 'no-pages';

/** Builds an index in a thread; the contents of the files are handed over to it. An abort ends the thread and rejects. */
export function buildIndexInThread({ signal, ...data }: IndexBuildRequest): Promise<BuildResult> {
  return runInThread<IndexBuildData, BuildResult>({
    script: new URL('./index-build-thread.ts', import.meta.url),
    data,
    transfer: [...buffersOf(data.files)],
    signal,
  });
}

/** Small ones are copied: they may lie in Node's pool, which cannot be handed over. */
function buffersOf(files: readonly FolderFile[]): Set<ArrayBuffer> {
  const buffers = files.flatMap(({ content }) => (content?.buffer instanceof ArrayBuffer ? [content.buffer] : []));
  return new Set(buffers.filter(({ byteLength }) => byteLength > Buffer.poolSize));
}
