import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Info } from '@temporalio/activity';
import type { LoopBlockWatch } from '../lib/threads/loop-block-watch.ts';

/** Names the activities in flight, so that a blocked event loop can be attributed. */
export function watchActivities(loopBlocks: Pick<LoopBlockWatch<Info>, 'start'>): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const end = loopBlocks.start(info);
        try {
          return await next(input);
        } finally {
          end();
        }
      },
    },
  });
}
