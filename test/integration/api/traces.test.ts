import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test';
import { streamText } from 'ai';
import { afterEach, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createRedactor } from '../../../lib/redaction/redactor.ts';
import { openTracing } from '../../../lib/tracing/open-tracing.ts';
import { tracingSettingsOf, tracingVariables } from '../../../lib/tracing/tracing-settings.ts';
import { traceModels } from '../../../lib/tracing/trace-models.ts';
import { endSpan, startTurn, tracer, traceOfTurn } from '../../../lib/tracing/turn-trace.ts';
import { createMcpToolset } from '../../../activities/mcp/mcp-toolset.ts';
import { traceTools } from '../../../worker/trace-tools.ts';
import { startTraceCollector, type TraceCollector } from '../../support/servers/trace-collector.ts';

const turn = { jobId: 'job_1', turn: 1 };
const failures: unknown[] = [];

/** Opens tracing as a process with these variables does. */
async function open(collector: Pick<TraceCollector, 'endpoint'>, env: Record<string, string> = {}) {
  const all = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, ...env };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
  const settings = tracingSettingsOf(tracingVariables.parse(all));
  const redact = createRedactor(['key-of-the-collector']);
  const tracing = await openTracing({ settings, service: 'docket-api', redact, onFailure: (e) => failures.push(e) });
  return { settings, [Symbol.asyncDispose]: () => tracing[Symbol.asyncDispose]() };
}

afterEach(() => {
  vi.unstubAllEnvs();
  failures.length = 0;
});

it('sends spans in the OTLP format, with the operator’s headers', async () => {
  await using collector = await startTraceCollector();
  {
    await using _tracing = await open(collector, { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20secret' });
    const startTime = 1_700_000_000_000;
    const span = startTurn(turn, { startTime, attributes: { 'docket.job.outcome': 'failed' } });
    endSpan(span, 'push_rejected');
  }
  expect(collector.authorization).toBe('Bearer secret');
  expect(collector.spans).toMatchObject([
    {
      service: 'docket-api',
      ...traceOfTurn(turn).turn,
      parentSpanId: traceOfTurn(turn).request.spanId,
      name: 'invoke_agent docket',
      kind: 1,
      startTimeUnixNano: '1700000000000000000',
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'docket',
        'gen_ai.conversation.id': 'job_1',
        'docket.job.turn': 1,
        'error.type': 'push_rejected',
      },
      links: [],
      status: { code: 2 },
    },
  ]);
});

it('names the service after OTEL_SERVICE_NAME', async () => {
  await using collector = await startTraceCollector();
  {
    await using _tracing = await open(collector, { OTEL_SERVICE_NAME: 'docs-agents' });
    tracer().startSpan('one').end();
  }
  expect(collector.spans).toMatchObject([{ service: 'docs-agents' }]);
});

it('retries what a collector refused', async () => {
  await using collector = await startTraceCollector();
  collector.refuse = 1;
  {
    await using _tracing = await open(collector);
    tracer().startSpan('one').end();
  }
  expect(collector.spans).toMatchObject([{ name: 'one' }]);
  expect(failures).toEqual([]);
});

it('reports a collector that is down once, and delays nothing', async () => {
  const tracing = await open({ endpoint: 'http://127.0.0.1:1' }, { OTEL_EXPORTER_OTLP_TIMEOUT: '200' });
  for (let count = 0; count < 3_000; count += 1) tracer().startSpan(`span ${count}`).end();
  await tracing[Symbol.asyncDispose]();
  expect(failures).toHaveLength(1);
});

it('is off without a collector: no spans are recorded, and models and tools are unchanged', async () => {
  await using tracing = await openTracing({
    settings: null,
    service: 'docket-api',
    redact: String,
    onFailure: () => {},
  });
  expect(tracing).toBeDefined();
  expect(tracer().startSpan('one').isRecording()).toBe(false);
  const models = { languageModel: () => new MockLanguageModelV4() };
  expect(traceModels(models, null)).toBe(models);
  const tools = {};
  expect(traceTools(tools, null)).toBe(tools);
});

it('samples a turn in the same way in every process, by its trace ID', async () => {
  await using collector = await startTraceCollector();
  const turns = Array.from({ length: 100 }, (_, index) => ({ jobId: `job_${index}`, turn: 1 }));
  const sampled = () => {
    for (const one of turns) {
      const below = trace.setSpan(ROOT_CONTEXT, startTurn(one));
      tracer().startSpan('activity', {}, below).end();
      endSpan(startTurn(one));
    }
  };
  for (const _process of [1, 2]) {
    await using _tracing = await open(collector, {
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.5',
    });
    sampled();
  }
  const ofTrace = Map.groupBy(collector.spans, ({ traceId }) => traceId);
  expect(ofTrace.size).toBeGreaterThan(20);
  expect(ofTrace.size).toBeLessThan(80);
  // both processes, each with the activity and the turn
  expect(new Set([...ofTrace.values()].map((spans) => spans.length))).toEqual(new Set([4]));
});

const token = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
const usage = {
  inputTokens: { total: 12, noCache: 2, cacheRead: 10, cacheWrite: 0 },
  outputTokens: { total: 3, text: 3, reasoning: 0 },
};
const answering = () =>
  new MockLanguageModelV4({
    doStream: {
      stream: convertArrayToReadableStream([
        { type: 'stream-start', warnings: [] },
        { type: 'response-metadata', id: 'answer-1', modelId: 'claude-1-20261122' },
        { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta: 'unspeakable ' },
        { type: 'text-delta', id: '1', delta: 'answer' },
        { type: 'text-end', id: '1' },
        { type: 'tool-call', toolCallId: 'call-1', toolName: 'read', input: '{"path":"words.md"}' },
        { type: 'finish', finishReason: { unified: 'tool-calls', raw: 'tool_use' }, usage },
      ]),
    },
  });

/** One model call and one tool call, with secrets in all content. */
async function callOnce(env: Record<string, string>): Promise<TraceCollector> {
  await using stack = new AsyncDisposableStack();
  const collector = stack.use(await startTraceCollector());
  {
    await using tracing = await open(collector, env);
    const models = traceModels({ languageModel: (_name: string) => answering() }, tracing.settings);
    const prompt = `unspeakable question with ${token} and key-of-the-collector`;
    await streamText({ model: models.languageModel('anthropic/claude-1'), instructions: 'Be brief.', prompt }).text;
    const read = {
      description: 'reads',
      inputSchema: z.unknown(),
      isReadOnly: true,
      run: async () => ({ text: `unspeakable ${token}`, isError: true }),
    };
    const context = { root: '/', signal: new AbortController().signal, toolCallId: 'call-1' };
    await traceTools({ read }, tracing.settings)['read']!.run({ path: 'words.md', token }, context);
  }
  stack.move();
  return collector;
}

it('describes model and tool calls by the semantic conventions, without their content', async () => {
  await using collector = await callOnce({});
  expect(collector.spans).toMatchObject([
    {
      name: 'chat claude-1',
      kind: 3,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'anthropic',
        'gen_ai.request.model': 'claude-1',
        'gen_ai.response.model': 'claude-1-20261122',
        'gen_ai.response.id': 'answer-1',
        'gen_ai.response.finish_reasons': ['tool-calls'],
        'gen_ai.usage.input_tokens': 12,
        'gen_ai.usage.cache_read.input_tokens': 10,
        'gen_ai.usage.output_tokens': 3,
      },
      status: { code: 0 },
    },
    {
      name: 'execute_tool read',
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'read',
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.call.id': 'call-1',
        'error.type': 'tool_error',
      },
      status: { code: 2 },
    },
  ]);
  for (const words of ['unspeakable', 'words.md', 'brief', token]) expect(collector.text).not.toContain(words);
});

it('describes calls of tools of MCP servers as those of other tools', async () => {
  await using collector = await startTraceCollector();
  {
    await using tracing = await open(collector, {});
    const look = { server: 'docs', tool: 'look', name: 'docs__look', description: '', inputSchema: {} };
    const toolset = createMcpToolset((tools) => traceTools(tools, tracing.settings))([
      { ...look, isReadOnly: true, hash: '' },
    ]);
    const callServer = async () => ({ text: 'unspeakable', isError: false });
    const context = { root: '/', signal: new AbortController().signal, toolCallId: 'call-1', callServer };
    await toolset['docs__look']!.run({}, context);
  }
  expect(collector.spans).toMatchObject([
    {
      name: 'execute_tool docs__look',
      attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'docs__look' },
    },
  ]);
  expect(collector.text).not.toContain('unspeakable');
});

it('exports content only by opt-in, and secrets never', async () => {
  await using collector = await callOnce({ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' });
  const [chat, tool] = collector.spans;
  const said = (name: string) => JSON.parse(String(chat?.attributes[name]));
  expect(said('gen_ai.system_instructions')).toEqual([{ type: 'text', content: 'Be brief.' }]);
  expect(said('gen_ai.input.messages')).toEqual([
    { role: 'user', parts: [{ type: 'text', content: 'unspeakable question with [redacted] and [redacted]' }] },
  ]);
  expect(said('gen_ai.output.messages')).toEqual([
    {
      role: 'assistant',
      parts: [
        { type: 'text', content: 'unspeakable answer' },
        { type: 'tool_call', id: 'call-1', name: 'read', arguments: '{"path":"words.md"}' },
      ],
      finish_reason: 'tool-calls',
    },
  ]);
  expect(tool?.attributes).toMatchObject({ 'gen_ai.tool.call.result': 'unspeakable [redacted]' });
  expect(String(tool?.attributes['gen_ai.tool.call.arguments'])).toContain('words.md');
  for (const secret of [token, 'key-of-the-collector']) expect(collector.text).not.toContain(secret);
});
