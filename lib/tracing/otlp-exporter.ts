import type { Attributes, EndedSpan } from './span.ts';

export interface OtlpExporterOptions {
  /** As OTEL_EXPORTER_OTLP_ENDPOINT has it; spans go to `/v1/traces` below it. */
  endpoint: string;
  headers: Record<string, string>;
  service: string;
  /** Takes secrets out of what is sent. */
  redact(text: string): string;
  /** Told once of a collector that takes nothing, until it takes again. */
  onFailure?: (error: unknown) => void;
  everyMs?: number;
}

export interface OtlpExporter extends AsyncDisposable {
  take(span: EndedSpan): void;
}

const mostWaiting = 5_000;
const mostAtOnce = 500;
const timeoutMs = 5_000;
const kinds = { internal: 1, server: 2, client: 3, consumer: 5 } as const;

/**
 * Sends spans to an OpenTelemetry collector, as JSON over HTTP, in batches. It never holds up who makes them: what a collector
 * does not take is tried once more with the next batch, and the oldest are dropped when too many wait.
 */
export function createOtlpExporter({
  endpoint,
  headers,
  service,
  redact,
  onFailure,
  everyMs = 2_000,
}: OtlpExporterOptions): OtlpExporter {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  let waiting: EndedSpan[] = [];
  let sending: Promise<void> | null = null;
  let hasFailed = false;

  async function send(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, mostAtOnce);
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: redact(JSON.stringify(requestOf(service, batch))),
          signal: AbortSignal.timeout(timeoutMs),
        });
        await response.body?.cancel();
        if (!response.ok) throw new Error(`The collector answered ${response.status}.`);
        hasFailed = false;
      } catch (error) {
        if (!hasFailed) onFailure?.(error);
        hasFailed = true;
        waiting = [...batch, ...waiting].slice(-mostWaiting);
        return;
      }
    }
  }

  function flush(): Promise<void> {
    sending ??= send().finally(() => (sending = null));
    return sending;
  }

  const timer = setInterval(() => void flush(), everyMs);
  timer.unref();
  return {
    take(span) {
      waiting.push(span);
      if (waiting.length > mostWaiting) waiting.shift();
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await flush();
      await flush();
    },
  };
}

function requestOf(service: string, spans: EndedSpan[]): unknown {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ 'service.name': service }) },
        scopeSpans: [{ scope: { name: 'docket' }, spans: spans.map(spanOf) }],
      },
    ],
  };
}

function spanOf(span: EndedSpan): unknown {
  return {
    ...span.context,
    ...(span.parentSpanId === null ? {} : { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: kinds[span.kind],
    startTimeUnixNano: nanosOf(span.startedAtMs),
    endTimeUnixNano: nanosOf(span.endedAtMs),
    attributes: attributesOf({ ...span.attributes, ...(span.error === null ? {} : { 'error.type': span.error }) }),
    links: span.links,
    status: { code: span.error === null ? 0 : 2 },
  };
}

function nanosOf(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}

function attributesOf(attributes: Attributes): unknown[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));
}

function valueOf(value: string | number | boolean): unknown {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
