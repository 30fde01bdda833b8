import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Info } from '@temporalio/activity';
import type { HoldWatch } from '../lib/threads/hold-watch.ts';

/** Names the activities in flight, so that a blocked event loop can be attributed. */
export function watchActivities(holds: Pick<HoldWatch<Info>, 'begin'>): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const end = holds.begin(info);
        try {
          return await next(input);
        } finally {
          end();
        }
      },
    },
  });
}
