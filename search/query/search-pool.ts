import { createThreadPool } from '../../lib/threads/thread-pool.ts';
import type { PageAccess } from './page-access.ts';
import type { SearchHit, SearchRequest } from './search-request.ts';
import type { Suggestion, SuggestRequest } from './suggest.ts';

/** A message to a search thread. */
export type PoolMessage =
  | { kind: 'search'; file: string; access: PageAccess; request: SearchRequest }
  | { kind: 'suggest'; file: string; access: PageAccess; request: SuggestRequest }
  | { kind: 'close'; file: string };

/** An index file, as one reader sees it. */
interface ReadIndex {
  /** Whose index it is. */
  organizationId: string;
  file: string;
  access: PageAccess;
}

/**
 * Searches index files outside of the event loop. Organizations take turns. Throws ThreadQueueError when too many
 * searches are waiting. A search whose signal has aborted finds nothing.
 */
export interface SearchPool extends AsyncDisposable {
  search(index: ReadIndex, request: SearchRequest, signal: AbortSignal): Promise<SearchHit[]>;
  suggest(index: ReadIndex, request: SuggestRequest, signal: AbortSignal): Promise<Suggestion[]>;
  /** Closes a file that is no longer searched. */
  close(file: string): void;
}

const limits = {
  threads: 2,
  waiting: 200,
  // with hundreds of streams, one iteration of the event loop takes longer than a search
  ahead: 4,
  resourceLimits: { maxOldGenerationSizeMb: 256 },
};

/** Creates the threads that search. Each opens the files that it is asked for. A search has `deadlineMs`. */
export function createSearchPool({ deadlineMs }: { deadlineMs: number }): SearchPool {
  const pool = createThreadPool({ script: new URL('./search-thread.ts', import.meta.url), deadlineMs, ...limits });
  const ask = async <Found>(message: PoolMessage, how: { holder: string; signal: AbortSignal }): Promise<Found[]> => {
    try {
      return await pool.run<Found[]>(message, how);
    } catch (error) {
      if (how.signal.aborted) return [];
      throw error;
    }
  };
  return {
    search: ({ organizationId: holder, ...index }, request, signal) =>
      ask({ kind: 'search', ...index, request }, { holder, signal }),
    suggest: ({ organizationId: holder, ...index }, request, signal) =>
      ask({ kind: 'suggest', ...index, request }, { holder, signal }),
    close: (file) => pool.tell({ kind: 'close', file }),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}
