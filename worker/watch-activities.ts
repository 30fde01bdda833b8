import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Info } from '@temporalio/activity';
import type { HoldWatch } from '../lib/threads/hold-watch.ts';

/** Names the activities that are under way, so that what holds the event loop can be told. */
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
