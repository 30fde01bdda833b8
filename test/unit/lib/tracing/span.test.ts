import { expect, it } from 'vitest';
import { parseTraceparent, traceOfTurn, type EndedSpan } from '../../../../lib/tracing/span.ts';
import { createTracer, noTracer } from '../../../../lib/tracing/tracer.ts';
import { parseOtlpHeaders } from '../../../../lib/tracing/open-tracing.ts';

it('gives a turn of a job the same trace in every process, and every other turn another', () => {
  const one = traceOfTurn({ jobId: 'job_1', turn: 1 });
  expect(traceOfTurn({ jobId: 'job_1', turn: 1 })).toEqual(one);
  expect(one.turn.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(one.turn.spanId).toMatch(/^[0-9a-f]{16}$/);
  expect(one.request).toMatchObject({ traceId: one.turn.traceId });
  expect(one.request.spanId).not.toBe(one.turn.spanId);
  const traces = [one, traceOfTurn({ jobId: 'job_1', turn: 2 }), traceOfTurn({ jobId: 'job_2', turn: 1 })];
  expect(new Set(traces.map(({ turn }) => turn.traceId)).size).toBe(3);
});

it('follows a traceparent that is one, and no other', () => {
  const [trace, span] = ['a'.repeat(32), 'b'.repeat(16)];
  expect(parseTraceparent(`00-${trace}-${span}-01`)).toEqual({ traceId: trace, spanId: span });
  expect(parseTraceparent(`42-${trace}-${span}-00-more`)).toEqual({ traceId: trace, spanId: span });
  for (const header of [
    undefined,
    '',
    `ff-${trace}-${span}-01`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
    `00-${trace}-${span}`,
  ])
    expect(parseTraceparent(header)).toBeNull();
});

it('puts spans below the current one, over awaits, and hands each out once', async () => {
  const ended: EndedSpan[] = [];
  let time = 0;
  const tracer = createTracer({ take: (span) => ended.push(span), now: () => (time += 1) });
  const outer = tracer.start('outer');
  await tracer.run(outer.context, async () => {
    await Promise.resolve();
    const inner = tracer.start('inner', { attributes: { count: 1 } });
    inner.set({ more: true });
    inner.end('broken');
    inner.end();
  });
  outer.end();
  expect(ended).toMatchObject([
    { name: 'inner', parentSpanId: outer.context.spanId, error: 'broken', attributes: { count: 1, more: true } },
    { name: 'outer', parentSpanId: null, error: null, startedAtMs: 1 },
  ]);
  expect(ended[0]?.context.traceId).toBe(outer.context.traceId);
  expect(tracer.start('alone').context.traceId).not.toBe(outer.context.traceId);
  expect(noTracer.run(outer.context, () => 7)).toBe(7);
});

it('reads the headers of a collector', () => {
  expect(parseOtlpHeaders('authorization=Bearer%20a%3Db, x-team = docs,broken,=x')).toEqual({
    authorization: 'Bearer a=b',
    'x-team': 'docs',
  });
});
