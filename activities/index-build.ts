import { Worker } from 'node:worker_threads';
import type { BuiltIndex } from '../search/build-index.ts';
import type { FolderFile } from './clients/source-folder.ts';

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

/** Builds an index in a thread. An abort ends the thread and rejects. */
export async function buildIndexInThread({ signal, ...request }: IndexBuildRequest): Promise<BuildResult> {
  signal.throwIfAborted();
  const workerData: IndexBuildData = request;
  const thread = new Worker(new URL('./index-build-thread.ts', import.meta.url), { workerData });
  const stop = () => void thread.terminate();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await new Promise<BuildResult>((resolve, reject) => {
      thread.once('message', resolve);
      thread.once('error', reject);
      thread.once('exit', () => reject(new Error('The thread that builds the index ended early.')));
    });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    await thread.terminate();
  }
}
