import type { AttributeValue } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { ExportResultCode, getNumberFromEnv, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import type { TracingOptions } from './open-tracing.ts';
import type { TracingSettings } from './tracing-settings.ts';
import { givenIds } from './turn-trace.ts';

/** Longest time that an unreachable collector delays the end of a process. */
const exportTimeoutMs = 5_000;
const maxTextLength = 100_000;

/** Creates the SDK's parts, with redaction before the exporter and the ids of turns instead of random ones. */
export function createTracing({
  settings,
  service,
  redact,
  onFailure,
}: TracingOptions & { settings: TracingSettings }) {
  const resource = resourceFromAttributes({ 'service.name': service }).merge(
    detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }),
  );
  const timeoutMillis =
    getNumberFromEnv('OTEL_EXPORTER_OTLP_TRACES_TIMEOUT') ??
    getNumberFromEnv('OTEL_EXPORTER_OTLP_TIMEOUT') ??
    exportTimeoutMs;
  const exporter = redacting(new OTLPTraceExporter({ timeoutMillis }), { redact, onFailure });
  const random = new RandomIdGenerator();
  return {
    provider: new TracerProvider({
      resource,
      sampler: samplerOf(settings.sampler),
      spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 2_000 })],
      idGenerator: {
        generateTraceId: () => givenIds.getStore()?.traceId ?? random.generateTraceId(),
        generateSpanId: () => givenIds.getStore()?.spanId ?? random.generateSpanId(),
      },
    }),
    contextManager: new AsyncLocalStorageContextManager().enable(),
    propagator: new W3CTraceContextPropagator(),
  };
}

function samplerOf({ root, isParentBased, ratio }: TracingSettings['sampler']): Sampler {
  const samplers = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  };
  const sampler = samplers[root]();
  return isParentBased ? new ParentBasedSampler({ root: sampler }) : sampler;
}

/** Redacts secrets from every text of a span, and reports the first failure of a streak. */
function redacting(
  exporter: SpanExporter,
  { redact, onFailure }: Pick<TracingOptions, 'redact' | 'onFailure'>,
): SpanExporter {
  let isFailing = false;
  // truncated after redaction: half a secret would not be recognized
  const clean = (text: string) => redact(text).slice(0, maxTextLength);
  return {
    export(spans, done) {
      const cleaned = spans.map((span) => cleanedSpan(span, clean));
      exporter.export(cleaned, (result) => {
        const hasFailed = result.code === ExportResultCode.FAILED;
        if (hasFailed && !isFailing) onFailure(result.error);
        isFailing = hasFailed;
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}

/** Spans have no events and no other texts: errors are recorded by kind only. */
function cleanedSpan(span: ReadableSpan, clean: (text: string) => string): ReadableSpan {
  const entries = Object.entries(span.attributes).map(([key, value]): [string, AttributeValue | undefined] => {
    if (typeof value === 'string') return [key, clean(value)];
    if (!Array.isArray(value)) return [key, value];
    return [key, value.map((item) => (typeof item === 'string' ? clean(item) : item))];
  });
  // the rest of a span is read through its prototype: most of it are getters
  return Object.create(span, {
    name: { value: clean(span.name) },
    attributes: { value: Object.fromEntries(entries) },
  });
}
