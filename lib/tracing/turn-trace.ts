import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import {
  ProxyTracerProvider,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Span,
  type SpanOptions,
  type Tracer,
} from '@opentelemetry/api';

export interface SpanIds {
  traceId: string;
  spanId: string;
}

/** The ids of the span that is being started, used instead of random ones. */
export const givenIds = new AsyncLocalStorage<SpanIds>();

/** The provider may be registered later, and replaced by another one. */
export function tracer(): Tracer {
  return trace.getTracer('docket');
}

const noProvider = new ProxyTracerProvider().getDelegate();

/** Returns whether a provider is registered; without one, spans do nothing. */
export function isTracing(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegate() !== noProvider;
}

/**
 * Returns the trace of a turn, and those of its spans that several processes write to. Their ids derive from the job,
 * so that a worker that takes over the job, even after a kill, continues the same trace.
 */
export function traceOfTurn({ jobId, turn }: { jobId: string; turn: number }): { request: SpanIds; turn: SpanIds } {
  const digest = (part: string, bytes: number) =>
    createHash('sha256')
      .update(`docket ${part} ${jobId} ${turn}`)
      .digest('hex')
      .slice(0, bytes * 2);
  const traceId = digest('trace', 16);
  return { request: { traceId, spanId: digest('request', 8) }, turn: { traceId, spanId: digest('turn', 8) } };
}

/**
 * Starts the root span of a turn's trace. Every process makes the same sampling decision; a span that never ends is not
 * exported.
 */
export function startTurnRequest(turn: { jobId: string; turn: number }, name: string, options: SpanOptions = {}): Span {
  return givenIds.run(traceOfTurn(turn).request, () => tracer().startSpan(name, { ...options, root: true }));
}

/** Starts the span of a turn, below its request. Any process may start it; the one that records the outcome ends it. */
export function startTurn(turn: { jobId: string; turn: number }, options: SpanOptions = {}): Span {
  const parent = trace.setSpan(ROOT_CONTEXT, startTurnRequest(turn, 'begin turn'));
  const attributes = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'docket',
    'gen_ai.conversation.id': turn.jobId,
    'docket.job.id': turn.jobId,
    'docket.job.turn': turn.turn,
    ...options.attributes,
  };
  return givenIds.run(traceOfTurn(turn).turn, () =>
    tracer().startSpan('invoke_agent docket', { ...options, attributes }, parent),
  );
}

/** Ends a span; `error` is the kind of error. */
export function endSpan(span: Span, error: string | null = null): void {
  if (error !== null) span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** Returns the type of a typed failure or the name of an error, never its message. */
export function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return 'error';
  return 'type' in error && typeof error.type === 'string' ? error.type : error.name;
}
