import { expect, it } from 'vitest';
import { tracingSettingsOf, tracingVariables } from '../../../../lib/tracing/tracing-settings.ts';
import { traceOfTurn } from '../../../../lib/tracing/turn-trace.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
const settingsOf = (env: Record<string, string>) => tracingSettingsOf(tracingVariables.parse(env));

it('gives a turn of a job the same trace in every process, and every other turn a different one', () => {
  const one = traceOfTurn({ jobId: 'job_1', turn: 1 });
  expect(traceOfTurn({ jobId: 'job_1', turn: 1 })).toEqual(one);
  expect(one.turn.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(one.turn.spanId).toMatch(/^[0-9a-f]{16}$/);
  expect(one.request).toMatchObject({ traceId: one.turn.traceId });
  expect(one.request.spanId).not.toBe(one.turn.spanId);
  const traces = [one, traceOfTurn({ jobId: 'job_1', turn: 2 }), traceOfTurn({ jobId: 'job_2', turn: 1 })];
  expect(new Set(traces.map(({ turn }) => turn.traceId)).size).toBe(3);
});

it('is off without a collector, and if OpenTelemetry is disabled', () => {
  expect(settingsOf({})).toBeNull();
  expect(settingsOf({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBeNull();
  expect(settingsOf(endpoint)).toEqual({
    sampler: { root: 'always_on', isParentBased: true, ratio: 1 },
    capturesContent: false,
    secrets: [],
  });
  expect(settingsOf({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' })).not.toBeNull();
});

it('reads the sampler, the opt-in for content and the secrets in headers', () => {
  const env = {
    ...endpoint,
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a%3Db, x-team = docs,broken,=x',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-token=for-traces',
  };
  expect(settingsOf(env)).toEqual({
    sampler: { root: 'traceidratio', isParentBased: false, ratio: 0.25 },
    capturesContent: true,
    secrets: ['Bearer a=b', 'docs', 'for-traces'],
  });
});

it.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ['OTEL_TRACES_SAMPLER', 'sometimes'],
  ['OTEL_TRACES_SAMPLER_ARG', '2'],
  ['OTEL_SDK_DISABLED', 'perhaps'],
])('refuses %s=%s', (name, value) => {
  const { error } = tracingVariables.safeParse({ [name]: value });
  expect(error?.issues).toMatchObject([{ path: [name], message: expect.stringMatching(/^must be /) }]);
});
