import { expect, it } from 'vitest';
import { createRedactor } from '../../../lib/redaction/redactor.ts';
import { createOtlpExporter } from '../../../lib/tracing/otlp-exporter.ts';
import { traceOfTurn, type EndedSpan } from '../../../lib/tracing/span.ts';
import { createTracer } from '../../../lib/tracing/tracer.ts';
import { startTraceCollector } from '../../support/trace-collector.ts';

const redact = createRedactor(['key-of-the-collector']);

const span: EndedSpan = {
  context: traceOfTurn({ jobId: 'job_1', turn: 1 }).turn,
  parentSpanId: null,
  links: [],
  name: 'job turn',
  kind: 'internal',
  startedAtMs: 1_700_000_000_000.5,
  endedAtMs: 1_700_000_001_000,
  attributes: { 'docket.job.turn': 1, 'docket.job.id': 'job_1' },
  error: 'push_rejected',
};

it('sends spans in the form of the protocol, with the headers of the operator', async () => {
  await using collector = await startTraceCollector();
  const headers = { authorization: 'Bearer secret' };
  {
    await using exporter = createOtlpExporter({
      endpoint: `${collector.endpoint}/`,
      headers,
      service: 'docket-api',
      redact,
    });
    exporter.take(span);
  }
  expect(collector.authorization).toBe('Bearer secret');
  expect(collector.spans).toEqual([
    {
      service: 'docket-api',
      ...span.context,
      name: 'job turn',
      kind: 1,
      startTimeUnixNano: '1700000000000500000',
      endTimeUnixNano: '1700000001000000000',
      attributes: { 'docket.job.turn': 1, 'docket.job.id': 'job_1', 'error.type': 'push_rejected' },
      links: [],
      status: { code: 2 },
    },
  ]);
});

it('tries again what a collector did not take, tells of it once, and keeps no more than it may', async () => {
  await using collector = await startTraceCollector();
  collector.refuse = 3;
  const failures: unknown[] = [];
  const exporter = createOtlpExporter({
    redact,
    endpoint: collector.endpoint,
    headers: {},
    service: 'docket-api',
    onFailure: (error) => failures.push(error),
    everyMs: 20,
  });
  const tracer = createTracer({ take: (one) => exporter.take(one) });
  for (let count = 0; count < 6_000; count += 1) tracer.start(`span ${count}`).end();
  await expect.poll(() => collector.spans.length, { timeout: 20_000 }).toBe(5_000);
  await exporter[Symbol.asyncDispose]();
  expect(failures).toHaveLength(1);
  expect(new Set(collector.spans.map(({ name }) => name)).size).toBe(5_000);
  expect(collector.spans.map(({ name }) => name)).toContain('span 5999');
});

it('holds up nobody where there is no collector', async () => {
  const exporter = createOtlpExporter({ endpoint: 'http://127.0.0.1:1', headers: {}, service: 'docket-api', redact });
  exporter.take(span);
  await exporter[Symbol.asyncDispose]();
});

it('takes secrets out of what it sends', async () => {
  await using collector = await startTraceCollector();
  {
    await using exporter = createOtlpExporter({
      endpoint: collector.endpoint,
      headers: {},
      service: 'docket-api',
      redact,
    });
    const attributes = {
      'docket.request_id': 'ghp_0123456789abcdefghijABCDEFGHIJ012345',
      note: 'a key-of-the-collector',
    };
    exporter.take({ ...span, attributes });
  }
  expect(collector.spans).toMatchObject([{ attributes: { 'docket.request_id': '[redacted]', note: 'a [redacted]' } }]);
});
