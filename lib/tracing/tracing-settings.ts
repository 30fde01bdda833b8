import { createRequire } from 'node:module';
import { z } from 'zod';
import { httpAddress } from '../config/read-variables.ts';

const samplers = ['always_on', 'always_off', 'traceidratio'] as const;
const load = createRequire(import.meta.url);
const headers = z.string().transform(headersOf).default({});
const flag = z.stringbool({ error: 'must be true or false' }).default(false);

/**
 * OpenTelemetry's variables that these settings depend on; its exporter and resource detectors read the others
 * themselves.
 */
export const tracingVariables = z.object({
  OTEL_SDK_DISABLED: flag,
  OTEL_EXPORTER_OTLP_ENDPOINT: httpAddress.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpAddress.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headers,
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: headers,
  OTEL_TRACES_SAMPLER: z
    .enum(
      samplers.flatMap((name) => [name, `parentbased_${name}` as const]),
      'must be always_on, always_off or traceidratio, with or without parentbased_ before it',
    )
    .default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .transform(Number)
    .refine((ratio) => ratio >= 0 && ratio <= 1, 'must be a number from 0 to 1')
    .default(1),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: flag,
});

function headersOf(pairs: string): Record<string, string> {
  const { parseKeyPairsIntoRecord }: typeof import('@opentelemetry/core') = load('@opentelemetry/core');
  return parseKeyPairsIntoRecord(pairs);
}

export interface TracingSettings {
  sampler: { root: (typeof samplers)[number]; isParentBased: boolean; ratio: number };
  /** Whether spans contain the messages of people, models and tools. */
  capturesContent: boolean;
  /** Values of the headers that the exporter sends. */
  secrets: string[];
}

/** Returns null when no collector is configured: nothing is traced. */
export function tracingSettingsOf(env: z.infer<typeof tracingVariables>): TracingSettings | null {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined || env.OTEL_SDK_DISABLED) return null;
  const name = env.OTEL_TRACES_SAMPLER;
  return {
    sampler: {
      root: samplers.find((root) => name.endsWith(root)) ?? 'always_on',
      isParentBased: name.startsWith('parentbased_'),
      ratio: env.OTEL_TRACES_SAMPLER_ARG,
    },
    capturesContent: env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT,
    secrets: [env.OTEL_EXPORTER_OTLP_HEADERS, env.OTEL_EXPORTER_OTLP_TRACES_HEADERS].flatMap(Object.values<string>),
  };
}
