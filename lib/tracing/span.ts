import { createHash, randomBytes } from 'node:crypto';

/** What names a span everywhere: 16 and 8 bytes in hexadecimal. */
export interface SpanContext {
  traceId: string;
  spanId: string;
}

export type Attributes = Record<string, string | number | boolean>;

/** A span that has ended. Attributes hold ids, names and counts, never what people, models or repositories say. */
export interface EndedSpan {
  context: SpanContext;
  parentSpanId: string | null;
  links: SpanContext[];
  name: string;
  kind: 'internal' | 'server' | 'client' | 'consumer';
  startedAtMs: number;
  endedAtMs: number;
  attributes: Attributes;
  /** The kind of what went wrong; null: nothing did. */
  error: string | null;
}

export function newTraceId(): string {
  return randomBytes(16).toString('hex');
}

export function newSpanId(): string {
  return randomBytes(8).toString('hex');
}

/**
 * The trace of a turn of a job, and its parts that several processes write to. They come from the ids, so that whoever works on
 * the job next, after a kill too, goes on in the same trace without being told.
 */
export function traceOfTurn({ jobId, turn }: { jobId: string; turn: number }): {
  request: SpanContext;
  turn: SpanContext;
} {
  const digest = (part: string, bytes: number) =>
    createHash('sha256')
      .update(`docket ${part} ${jobId} ${turn}`)
      .digest('hex')
      .slice(0, bytes * 2);
  const traceId = digest('trace', 16);
  return { request: { traceId, spanId: digest('request', 8) }, turn: { traceId, spanId: digest('turn', 8) } };
}

/** The trace that a client's `traceparent` header names (W3C Trace Context); null when there is none, or none to be followed. */
export function parseTraceparent(header: string | undefined): SpanContext | null {
  const [, traceId, spanId] =
    /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?$/.exec(header ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId };
}
