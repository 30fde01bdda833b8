import type { Logger } from 'pino';
import type { ClaimedGap, GapCheckStore } from '../../db/for-service/gap-checks.ts';
import type { SiteStore } from '../../db/sites/sites.ts';
import { askOnce, leaseNewest } from '../assistant/ask-once.ts';
import type { Assistant } from '../assistant/assistant.ts';
import type { SiteIndexes } from '../assistant/site-indexes.ts';

export interface GapCheckDeps {
  gaps: GapCheckStore;
  sites: Pick<SiteStore, 'findByDomain'>;
  indexes: Pick<SiteIndexes, 'lease'>;
  assistant: Assistant;
  /** Its model, as `provider/model`. */
  modelName: string;
  log: Logger;
  /** Aborts a check, which another process then continues. */
  stopping: AbortSignal;
}

/** Lease of a claimed gap, in seconds. After it expires, another process may claim the gap. */
const claimSeconds = 120;

/**
 * Creates a function that runs one round over the gaps in progress. It re-indexes sites whose change was merged, and
 * asks the questions of re-indexed sites again. Processes share the work, in which organizations take turns.
 */
export function createGapChecks(deps: GapCheckDeps): () => Promise<void> {
  const { gaps, stopping, log } = deps;
  /** Organization of the last check. */
  let after = '';
  return async () => {
    await gaps.noteMerged();
    while (!stopping.aborted) {
      const gap = await gaps.claim({ seconds: claimSeconds, after });
      if (gap === null) return;
      after = gap.organizationId;
      const isDone = await check(deps, gap);
      if (isDone) await gaps.conclude({ siteId: gap.siteId, gapId: gap.id });
      else log.warn({ site: gap.siteId, gap: gap.id }, 'some questions of a gap could not be asked; retrying later');
    }
  };
}

async function check(
  { gaps, sites, indexes, assistant, modelName, stopping }: GapCheckDeps,
  gap: ClaimedGap,
): Promise<boolean> {
  const site = await sites.findByDomain(gap, gap.domain);
  const lease = site === null ? null : await leaseNewest(indexes, site);
  if (site === null || lease === null) return false;
  try {
    for (const { key, text } of gap.questions) {
      const answer = await askOnce({ assistant, site, index: lease.index, question: text, stopping });
      if (answer === null) return false;
      // while the budget of the day is spent, another model quotes passages that may answer nothing
      if (answer.modelName !== modelName && !answer.exceedsBudget) return false;
      const answered = answer.isAnswered;
      await gaps.recordAnswer({ siteId: gap.siteId, gapId: gap.id, key, answered, seconds: claimSeconds });
    }
    return true;
  } finally {
    lease.release();
  }
}
