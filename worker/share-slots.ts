import { ApplicationFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { createFairShares } from '../db/fair-shares.ts';
import { remember } from '../lib/remember.ts';
import { FailureType } from '../workflows/contract/failures.ts';

/**
 * Delay before an activity tries again to get a slot, and the time between two tries of one organization. However many
 * activities of it wait, Temporal has the same work with them.
 */
const retries = { minMs: 250, apartMs: 25, maxMs: 60_000 };

/**
 * Divides a worker's activity slots between organizations, which are the fairness keys of executions. The queue orders
 * waiting activities but cannot take a slot back from a command that runs for minutes. An activity beyond its
 * organization's share therefore returns to the queue before it starts.
 */
export function shareSlots(slots: number): ActivityInterceptorsFactory {
  const shares = createFairShares(slots);
  /** Time of the last try to come, by organization. */
  const lastTries = new Map<string, number>();

  function delayOf(organizationId: string): number {
    const now = performance.now();
    const afterLast = (lastTries.get(organizationId) ?? 0) + retries.apartMs - now;
    const delayMs = Math.min(Math.max(retries.minMs, afterLast), retries.maxMs);
    remember(lastTries, organizationId, now + delayMs);
    return Math.ceil(delayMs);
  }

  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const organizationId = info.priority?.fairnessKey;
        if (organizationId === undefined || organizationId === '') return next(input);
        const giveBack = shares.tryTake(organizationId);
        if (giveBack === null) throw slotsTaken(delayOf(organizationId));
        try {
          return await next(input);
        } finally {
          giveBack();
        }
      },
    },
  });
}

function slotsTaken(nextRetryDelay: number): ApplicationFailure {
  return ApplicationFailure.create({
    message: "The organization already uses its share of this worker's slots.",
    type: FailureType.Superseded,
    nextRetryDelay,
    category: ApplicationFailureCategory.BENIGN,
  });
}
