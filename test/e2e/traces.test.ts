import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { traceOfTurn } from '../../lib/tracing/turn-trace.ts';
import { startTestStack } from '../support/stack/stack.ts';
import { startTraceCollector } from '../support/servers/trace-collector.ts';

it('traces a job from the request to the model calls as one trace, without any content', async () => {
  await using collector = await startTraceCollector();
  await using stack = await startTestStack({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20for-the-collector',
    },
  });
  const { baseUrl, projectId, adminKey, domain, assistantKey } = stack.localJson;
  const ask = async (path: string, key: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(baseUrl + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return response.text();
  };
  const client = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16) };
  const traceparent = `00-${client.traceId}-${client.spanId}-01`;
  const prompt = 'Create words.md with "unspeakable words"';
  const jobs = [
    JSON.parse(await ask(`/v2/agent/${projectId}/job`, adminKey, { prompt })),
    JSON.parse(await ask(`/v2/agent/${projectId}/job`, adminKey, { prompt }, { traceparent })),
  ];
  for (const { id } of jobs)
    while (JSON.parse(await ask(`/v2/agent/${projectId}/job/${id}`, adminKey)).status === 'active') await delay(100);
  await ask(`/discovery/v2/assistant/${domain}/message`, assistantKey, {
    fp: 'anonymous',
    messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'How do I run an unspeakable scene?' }] }],
  });

  const [one, other] = jobs.map(({ id }) => traceOfTurn({ jobId: id, turn: 1 }));
  const spansOf = (traceId: string | undefined) => collector.spans.filter((span) => span.traceId === traceId);
  const named = (traceId: string | undefined, name: string | RegExp) =>
    spansOf(traceId).filter((span) => span.name.match(name));
  await expect.poll(() => named(other?.turn.traceId, 'invoke_agent docket').length).toBe(1);
  await expect.poll(() => named(one?.turn.traceId, 'invoke_agent docket').length).toBe(1);

  // each process exports its spans at its own pace
  const asked = 'POST /v2/agent/:projectId/job';
  for (const traceId of [one?.turn.traceId, client.traceId])
    await expect.poll(() => named(traceId, asked).length).toBe(1);

  const [request] = named(one?.turn.traceId, asked);
  expect(request).toMatchObject({ ...one?.request, service: 'docket-api', kind: 2 });
  const [turn] = named(one?.turn.traceId, 'invoke_agent docket');
  expect(turn).toMatchObject({
    ...one?.turn,
    service: 'docket-worker',
    parentSpanId: request?.spanId,
    attributes: { 'docket.job.outcome': 'published' },
  });
  const activities = named(one?.turn.traceId, /^activity /);
  expect(new Set(activities.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([turn?.spanId]));
  const calls = named(one?.turn.traceId, /^chat /);
  expect(calls.length).toBeGreaterThan(0);
  for (const call of calls) {
    const parent = activities.find(({ spanId }) => spanId === call.parentSpanId);
    expect(parent?.name).toBe('activity runStep');
    expect(call.attributes).toMatchObject({ 'gen_ai.provider.name': 'offline', 'gen_ai.request.model': 'editor' });
    expect(BigInt(call.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(parent?.startTimeUnixNano ?? 0));
  }
  const tools = named(one?.turn.traceId, 'execute_tool write');
  expect(tools).toMatchObject([
    { attributes: { 'gen_ai.tool.name': 'write', 'gen_ai.operation.name': 'execute_tool' } },
  ]);
  expect(activities.find(({ spanId }) => spanId === tools[0]?.parentSpanId)?.name).toBe('activity runStep');

  // a client with its own trace finds its request in that trace, and the job as a link
  const [followed] = named(client.traceId, asked);
  expect(followed).toMatchObject({ parentSpanId: client.spanId, links: [other?.turn] });

  const answers = () => collector.spans.filter(({ name }) => name === 'POST /discovery/v2/assistant/:domain/message');
  await expect.poll(() => answers().length).toBe(1);
  const [answer] = answers();
  expect(named(answer?.traceId, /^chat /)).toMatchObject([{ parentSpanId: answer?.spanId, service: 'docket-api' }]);

  for (const words of ['unspeakable', 'words.md', adminKey, assistantKey, 'for-the-collector'])
    expect(collector.text).not.toContain(words);
});
