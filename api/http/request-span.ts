import { newSpanId, newTraceId, parseTraceparent, traceOfTurn } from '../../lib/tracing/span.ts';
import type { Tracer } from '../../lib/tracing/tracer.ts';
import type { AppMiddleware } from './app-context.ts';
import { routeOf } from './route-of.ts';

/**
 * Makes a span of each request. One that begins a turn of a job is the beginning of the turn's trace; a client that traces by
 * itself keeps its own, linked with it.
 */
export function createRequestSpan({ tracer }: { tracer: Tracer }): AppMiddleware {
  return (ctx, next) => {
    if (!tracer.isOn) return next();
    const client = parseTraceparent(ctx.get('traceparent') || undefined);
    const own = { traceId: client?.traceId ?? newTraceId(), spanId: newSpanId() };
    const startedAtMs = Date.now();
    ctx.res.once('close', () => {
      const { turn } = ctx.state;
      const trace = turn === undefined ? null : traceOfTurn(turn);
      const name = `${ctx.method} ${routeOf(ctx)}`;
      const attributes = {
        'http.request.method': ctx.method,
        'http.route': routeOf(ctx),
        'http.response.status_code': ctx.res.statusCode,
        'docket.request_id': ctx.state.requestId,
        ...(turn === undefined ? {} : { 'docket.job.id': turn.jobId, 'docket.job.turn': turn.turn }),
      };
      const error = ctx.res.statusCode >= 500 ? String(ctx.res.statusCode) : null;
      const context = client === null && trace !== null ? trace.request : own;
      const links = client !== null && trace !== null ? [trace.turn] : [];
      const span = tracer.start(name, { kind: 'server', parent: client, context, links, startedAtMs, attributes });
      span.end(error);
      if (client === null || trace === null) return;
      tracer
        .start('begin turn', { parent: null, context: trace.request, links: [own], startedAtMs, attributes })
        .end(error);
    });
    return tracer.run(own, next);
  };
}
