import { createThreadPool } from '../../../lib/threads/thread-pool.ts';
import { ThreadQueueError } from '../../../lib/threads/fair-queue.ts';
import type { WebPage } from '../../../search/read/formats/html.ts';
import type { ThreadText } from '../../../search/read/formats/thread.ts';
import type { FrontMatter } from '../../../search/read/front-matter.ts';
import { PageError } from './page-error.ts';
import type { Sitemap } from './read-sitemap.ts';

export type ReadRequest =
  | { kind: 'page'; url: string; type: string | null; bytes: Uint8Array }
  | ({ kind: 'thread' } & ThreadText)
  | { kind: 'sitemap'; bytes: Uint8Array }
  | { kind: 'robots'; url: string; text: string }
  | { kind: 'allowed'; url: string; text: string; page: string };

export interface ReadResults {
  page: WebPage | { problem: string };
  thread: FrontMatter;
  /** Null if it is no sitemap. */
  sitemap: Sitemap | null;
  robots: { sitemaps: string[]; delaySeconds: number | null };
  allowed: boolean;
}

export type ContentReader = ReturnType<typeof createContentReader>;

/** Reads what others wrote: a website, or people in a thread. Errors: PageError. */
export function createContentReader() {
  const pool = createThreadPool({
    script: new URL('./content-thread.ts', import.meta.url),
    threads: 1,
    waiting: 10,
    deadlineMs: 15_000,
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  return {
    async read<Kind extends keyof ReadResults>(
      request: Extract<ReadRequest, { kind: Kind }>,
      signal: AbortSignal,
    ): Promise<ReadResults[Kind]> {
      try {
        return await pool.run(request, { signal });
      } catch (cause) {
        signal.throwIfAborted();
        const isTooLong = cause instanceof ThreadQueueError;
        // elements nested too deeply, what expands too far, or a thread that ran out of memory
        throw new PageError(isTooLong ? 'takes too long to read' : 'cannot be read', { cause });
      }
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}
