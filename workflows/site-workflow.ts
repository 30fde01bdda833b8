import { CancellationScope, TemporalFailure } from '@temporalio/workflow';
import type { IndexSiteInput, IndexSiteOutcome } from './contract/site.ts';
import { outcomeOfFailure } from './failure-outcome.ts';
import { buildSiteIndex, readIndexRequest, recordIndexFailure, requestIndex } from './proxies.ts';

/**
 * Indexes a site once. Its id is the site's, so that two never run at the same time. The request stands until it is
 * answered: a run that is lost is started again.
 */
export async function indexSite(input: IndexSiteInput): Promise<IndexSiteOutcome> {
  const request = await readIndexRequest(input);
  try {
    return await buildSiteIndex({ ...input, request });
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    const { category, message } = outcomeOfFailure(error, CancellationScope.current().consideredCancelled);
    await CancellationScope.nonCancellable(() => recordIndexFailure({ ...input, request, category, message }));
    throw error;
  }
}

/** What a site's schedule runs: asks for an index, which starts unless one is under way. */
export async function refreshSite(input: IndexSiteInput): Promise<void> {
  await requestIndex(input);
}
