import { AsyncLocalStorage } from 'node:async_hooks';
import { newSpanId, newTraceId, type Attributes, type EndedSpan, type SpanContext } from './span.ts';

export interface StartOptions {
  kind?: EndedSpan['kind'];
  /** Without it the current span; null: a trace of its own. */
  parent?: SpanContext | null;
  /** Without it a new one. */
  context?: SpanContext;
  links?: SpanContext[];
  attributes?: Attributes;
  startedAtMs?: number;
}

export interface Span {
  readonly context: SpanContext;
  set(attributes: Attributes): void;
  /** Hands the span out; a second end does nothing. `error` is the kind of what went wrong. */
  end(error?: string | null): void;
}

export interface Tracer {
  start(name: string, options?: StartOptions): Span;
  /** Runs work with a span as the current one. */
  run<Result>(context: SpanContext, work: () => Result): Result;
  isOn: boolean;
}

/** Makes spans and hands them to `take` when they have ended. */
export function createTracer({
  take,
  now = Date.now,
}: {
  take: (span: EndedSpan) => void;
  now?: () => number;
}): Tracer {
  const current = new AsyncLocalStorage<SpanContext>();
  return {
    isOn: true,
    start(
      name,
      { kind = 'internal', parent = current.getStore() ?? null, links = [], attributes = {}, ...options } = {},
    ) {
      const context = options.context ?? { traceId: parent?.traceId ?? newTraceId(), spanId: newSpanId() };
      const startedAtMs = options.startedAtMs ?? now();
      const all = { ...attributes };
      let hasEnded = false;
      return {
        context,
        set: (more) => void Object.assign(all, more),
        end(error = null) {
          if (hasEnded) return;
          hasEnded = true;
          const parentSpanId = parent?.spanId ?? null;
          take({ context, parentSpanId, links, name, kind, startedAtMs, endedAtMs: now(), attributes: all, error });
        },
      };
    },
    run: (context, work) => current.run(context, work),
  };
}

const noSpan: Span = { context: { traceId: '0'.repeat(32), spanId: '0'.repeat(16) }, set: () => {}, end: () => {} };

/** Does nothing: no collector is configured. */
export const noTracer: Tracer = { isOn: false, start: () => noSpan, run: (_context, work) => work() };
