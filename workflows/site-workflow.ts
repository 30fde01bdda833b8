import { CancellationScope, TemporalFailure } from '@temporalio/workflow';
import type { IndexSiteInput, IndexSiteOutcome } from './contract/site.ts';
import { outcomeOfFailure } from './failure-outcome.ts';
import { buildSiteIndex, readIndexRequest, recordIndexFailure, requestIndex } from './proxies.ts';

/**
 * Indexes a site once. The workflow id derives from the site, so two runs never overlap. The request stays pending
 * until a run answers it, so a lost run is started again.
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

/** Requests an index, which starts unless a run is in flight. Started by the site's schedule. */
export async function refreshSite(input: IndexSiteInput): Promise<void> {
  await requestIndex(input);
}
