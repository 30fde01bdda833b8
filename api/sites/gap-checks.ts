import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ClaimedGap, GapCheckStore } from '../../db/for-service/gap-checks.ts';
import type { SiteRow, SiteStore } from '../../db/sites/sites.ts';
import { askOnce } from '../assistant/ask-once.ts';
import type { Assistant } from '../assistant/assistant.ts';
import type { IndexLease, SiteIndexes } from '../assistant/site-indexes.ts';

export interface GapCheckDeps {
  gaps: GapCheckStore;
  sites: Pick<SiteStore, 'findByDomain'>;
  indexes: Pick<SiteIndexes, 'lease'>;
  assistant: Assistant;
  log: Logger;
  /** Aborts a check, which another process then continues. */
  stopping: AbortSignal;
}

/** Lease of a claimed gap, in seconds. After it expires, another process may claim the gap. */
const claimSeconds = 120;
const longestAnswerMs = 90_000;
const indexWaits = 40;
const indexWaitMs = 250;

/**
 * Creates a function that runs one round over the gaps in progress. It re-indexes sites whose change was merged, and
 * asks the questions of re-indexed sites again. Processes share the work, and each runs one round at a time.
 */
export function createGapChecks(deps: GapCheckDeps): () => Promise<void> {
  const { gaps, stopping, log } = deps;
  let isRunning = false;

  async function round(): Promise<void> {
    await gaps.noteMerged();
    while (!stopping.aborted) {
      const gap = await gaps.claim({ seconds: claimSeconds });
      if (gap === null) return;
      const isDone = await check(deps, gap);
      if (isDone) await gaps.conclude({ siteId: gap.siteId, gapId: gap.id });
      else log.warn({ site: gap.siteId, gap: gap.id }, 'some questions of a gap could not be asked; retrying later');
    }
  }

  return async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await round();
    } finally {
      isRunning = false;
    }
  };
}

async function check({ gaps, sites, indexes, assistant, stopping }: GapCheckDeps, gap: ClaimedGap): Promise<boolean> {
  const site = await sites.findByDomain(gap, gap.domain);
  const lease = site === null ? null : await newestIndex(indexes, site);
  if (site === null || lease === null) return false;
  try {
    for (const { key, text } of gap.questions) {
      const signal = AbortSignal.any([stopping, AbortSignal.timeout(longestAnswerMs)]);
      const answered = await askOnce({ assistant, site, index: lease.index, question: text, signal });
      if (answered === null) return false;
      await gaps.recordAnswer({ siteId: gap.siteId, gapId: gap.id, key, answered, seconds: claimSeconds });
    }
    return true;
  } finally {
    lease.release();
  }
}

/** Leases the site's current index, waiting while this process is still downloading it. */
async function newestIndex(indexes: Pick<SiteIndexes, 'lease'>, site: SiteRow): Promise<IndexLease | null> {
  for (let waits = 0; waits < indexWaits; waits += 1) {
    // only the organization sees whether a question is answered now
    const lease = await indexes.lease(site, 'all');
    if (lease !== null && lease.version >= site.indexVersion) return lease;
    lease?.release();
    await wait(indexWaitMs);
  }
  return null;
}
