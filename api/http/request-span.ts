import { context, propagation, ROOT_CONTEXT, SpanKind, trace, type Context } from '@opentelemetry/api';
import { endSpan, isTracing, startTurnRequest, tracer, traceOfTurn } from '../../lib/tracing/turn-trace.ts';
import type { AppMiddleware } from './app-context.ts';
import { routeOf } from './route-of.ts';

/**
 * Creates the middleware that records a span per request. The span of a request that starts a job's turn is the root of
 * the turn's trace, unless the request has a `traceparent`: then it stays in the client's trace and the two are linked.
 */
export function createRequestSpan(): AppMiddleware {
  return (ctx, next) => {
    if (!isTracing()) return next();
    const startTime = Date.now();
    const client = clientOf(propagation.extract(ROOT_CONTEXT, ctx.headers));
    const span = tracer().startSpan('request', { kind: SpanKind.SERVER, startTime }, client ?? ROOT_CONTEXT);
    if (!trace.isSpanContextValid(span.spanContext())) return next();
    ctx.res.once('close', () => {
      const { turn } = ctx.state;
      const route = routeOf(ctx);
      const name = `${ctx.method} ${route}`;
      const attributes = {
        'http.request.method': ctx.method,
        'http.route': route,
        'http.response.status_code': ctx.res.statusCode,
        'docket.request_id': ctx.state.requestId,
        ...(turn === undefined ? {} : { 'docket.job.id': turn.jobId, 'docket.job.turn': turn.turn }),
      };
      const error = ctx.res.statusCode >= 500 ? String(ctx.res.statusCode) : null;
      // the original span is never ended and so not exported: the root of the turn's trace replaces it
      if (turn !== undefined && client === null)
        return endSpan(startTurnRequest(turn, name, { kind: SpanKind.SERVER, startTime, attributes }), error);
      span.updateName(name).setAttributes(attributes);
      if (turn !== undefined) {
        const links = [{ context: span.spanContext() }];
        const root = startTurnRequest(turn, 'begin turn', { startTime, attributes, links });
        span.addLink({ context: { ...root.spanContext(), ...traceOfTurn(turn).turn } });
        endSpan(root, error);
      }
      endSpan(span, error);
    });
    return context.with(trace.setSpan(context.active(), span), next);
  };
}

/** Returns a context with the client's `traceparent`, without its `tracestate`, which is not ours to propagate. */
function clientOf(extracted: Context): Context | null {
  const client = trace.getSpanContext(extracted);
  if (client === undefined) return null;
  const { traceState: _traceState, ...ids } = client;
  return trace.setSpanContext(ROOT_CONTEXT, ids);
}
