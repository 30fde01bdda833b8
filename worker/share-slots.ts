import { randomInt } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { createFairShares } from '../db/fair-shares.ts';
import { FailureType } from '../workflows/contract/failures.ts';

/** Range of the delay before an activity tries again to get a slot, random so that many do not retry at once. */
const waitMs = { least: 250, most: 1_000 };

/**
 * Divides a worker's activity slots between organizations, which are the fairness keys of executions. The queue orders
 * waiting activities but cannot take a slot back from a command that runs for minutes. An activity beyond its
 * organization's share therefore returns to the queue before it starts.
 */
export function shareSlots(slots: number): ActivityInterceptorsFactory {
  const shares = createFairShares(slots);
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const organizationId = info.priority?.fairnessKey;
        if (organizationId === undefined || organizationId === '') return next(input);
        const giveBack = shares.tryTake(organizationId);
        if (giveBack === null) throw slotsTaken();
        try {
          return await next(input);
        } finally {
          giveBack();
        }
      },
    },
  });
}

function slotsTaken(): ApplicationFailure {
  return ApplicationFailure.create({
    message: "The organization already uses its share of this worker's slots.",
    type: FailureType.Superseded,
    nextRetryDelay: randomInt(waitMs.least, waitMs.most),
    category: ApplicationFailureCategory.BENIGN,
  });
}
