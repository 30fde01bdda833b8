import type { Logger } from 'pino';
import { watchEventLoop } from '../lib/watch-event-loop.ts';
import type { AppContext, AppMiddleware } from './app-context.ts';
import type { Metrics } from './metrics.ts';
import { routeOf } from './route-of.ts';

export interface LoopHolds {
  /** Knows which requests are under way. */
  note: AppMiddleware;
  /** Looks at the event loop until it is disposed of. */
  watch(): Disposable;
}

/** No request may use the processor for longer in one go: all others wait meanwhile. */
const heldMs = 50;
const mostNamed = 5;

/** Logs and counts what held the event loop, with the routes that could have been it. */
export function createLoopHolds({ log, metrics }: { log: Logger; metrics: Pick<Metrics, 'observeHold'> }): LoopHolds {
  const underWay = new Set<AppContext>();
  // begun or ended since the last look; streams are under way all the time
  const moved = new Set<AppContext>();

  return {
    note(ctx, next) {
      underWay.add(ctx);
      moved.add(ctx);
      ctx.res.once('close', () => {
        underWay.delete(ctx);
        moved.add(ctx);
      });
      return next();
    },
    watch: () =>
      watchEventLoop({
        heldMs,
        onHeld({ cpuMs }) {
          metrics.observeHold(cpuMs / 1_000);
          const routes = [...new Set([...(moved.size > 0 ? moved : underWay)].map(routeOf))].slice(0, mostNamed);
          log.warn({ routes, cpuMs: Math.round(cpuMs) }, 'the event loop was held');
        },
        onLook: () => moved.clear(),
      }),
  };
}
