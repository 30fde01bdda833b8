import { context, propagation, trace } from '@opentelemetry/api';
import type { TracingSettings } from './tracing-settings.ts';

export interface TracingOptions {
  /** Null turns tracing off: the SDK is not loaded, and OpenTelemetry's API does nothing. */
  settings: TracingSettings | null;
  /** The name of the service, unless OTEL_SERVICE_NAME is set. */
  service: string;
  /** Redacts secrets from exported data. */
  redact(text: string): string;
  /** Called once when exports begin to fail, and again after one that succeeded. */
  onFailure(error: unknown): void;
}

/**
 * Registers the process's tracer provider with OpenTelemetry's API, which the rest of the code uses to create spans.
 */
export async function openTracing({ settings, ...options }: TracingOptions): Promise<AsyncDisposable> {
  if (settings === null) return { [Symbol.asyncDispose]: () => Promise.resolve() };
  const { createTracing } = await import('./create-tracing.ts');
  const { provider, contextManager, propagator } = createTracing({ settings, ...options });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(contextManager);
  propagation.setGlobalPropagator(propagator);
  return {
    async [Symbol.asyncDispose]() {
      // onFailure has already reported the error
      await provider.shutdown().catch(() => undefined);
      for (const api of [trace, context, propagation]) api.disable();
    },
  };
}
