import { createOtlpExporter } from './otlp-exporter.ts';
import { createTracer, noTracer, type Tracer } from './tracer.ts';

export interface TracingSettings {
  endpoint: string;
  headers: Record<string, string>;
}

export interface Tracing extends AsyncDisposable {
  tracer: Tracer;
}

/** The tracer of a process; without a collector it does nothing. */
export function openTracing({
  settings,
  service,
  redact,
  onFailure,
}: {
  settings: TracingSettings | null;
  service: string;
  /** Takes secrets out of what is sent. */
  redact(text: string): string;
  onFailure: (error: unknown) => void;
}): Tracing {
  if (settings === null) return { tracer: noTracer, [Symbol.asyncDispose]: () => Promise.resolve() };
  const exporter = createOtlpExporter({ ...settings, service, redact, onFailure });
  const tracer = createTracer({ take: (span) => exporter.take(span) });
  return { tracer, [Symbol.asyncDispose]: () => exporter[Symbol.asyncDispose]() };
}

/** `OTEL_EXPORTER_OTLP_HEADERS`: names and values as `name=value`, comma separated, values percent-encoded. */
export function parseOtlpHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap((pair): [string, string][] => {
    const at = pair.indexOf('=');
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]];
  });
  return Object.fromEntries(pairs);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
