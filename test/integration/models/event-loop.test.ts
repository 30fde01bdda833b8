import { spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAskModel } from '../../../activities/model/ask-model.ts';
import { changedLines } from '../../../activities/workspaces/changed-lines.ts';
import { createTranscriptReader } from '../../../activities/model/transcript/read-transcript.ts';
import { conversationOf } from '../../../activities/model/transcript/transcript.ts';
import type { StepRow } from '../../../db/for-worker/steps.ts';
import { createLiveText } from '../../../activities/model/live-text.ts';
import { scrubAnswer } from '../../../activities/model/transcript/scrub-answer.ts';
import { createToolset } from '../../../activities/tools/toolset.ts';
import { createStreamRedactor } from '../../../lib/redaction/redact-stream.ts';
import { createKnownSecrets } from '../../../lib/redaction/known-secrets.ts';
import { createModelRegistry } from '../../../models/registry.ts';
import { holdOf } from '../../support/database/hold-of.ts';
import { hostileAnswers } from '../../support/servers/hostile-provider.ts';

/** In its own process, so that its work does not count as the worker's. */
let provider: ChildProcess;
let port = '';
beforeAll(async () => {
  const script = join(import.meta.dirname, '../../support/servers/hostile-provider.ts');
  provider = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await once(provider.stdout!, 'data');
  port = String(said).trim();
  // code that runs for the first time is compiled meanwhile
  for (const name of ['many calls', 'a text of line breaks']) await ask(name);
});
afterAll(() => void provider.kill());

async function ask(name: string) {
  const baseUrl = `http://127.0.0.1:${port}/${encodeURIComponent(name)}`;
  const models = createModelRegistry({ compatible: { baseUrl, apiKey: 'key-of-the-model' } });
  const question = {
    model: 'compatible/any',
    system: '',
    messages: [{ role: 'user' as const, content: 'Words' }],
    toolset: createToolset(),
    signal: new AbortController().signal,
    onText: () => undefined,
  };
  await createAskModel({ models })(question).catch(() => undefined);
}

describe('a worker’s event loop stays responsive', () => {
  it.each(Object.keys(hostileAnswers))('while a model answers with %s', async (name) => {
    expect(await holdOf(() => ask(name))).toBe(0);
  });

  const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  const secrets = createKnownSecrets([
    ...Array.from({ length: 12 }, (_, at) => `secret-${at}-abcdefghijklm`),
    String(pem),
  ]);
  const texts = {
    words: 'lorem ipsum ',
    'one word': 'aB3dE5gH7',
    'line breaks': 'a\n',
    'beginnings of tokens': 'ghp_',
    'beginnings of secrets': 'secret-1-abcd ',
    'beginnings of keys': '-----BEGIN A PRIVATE KEY-----',
    headers: 'Bearer ',
  };
  const longAnswer = (text: string, input: unknown) => ({
    response: {
      content: [{ type: 'text', text }],
      text,
      toolCalls: [{ toolCallId: 'a', toolName: 'write', input }],
    },
    finishReason: 'stop',
    usage: { inputTokens: 1, outputTokens: 1 },
    costMicros: 1,
    receivedCharacters: text.length,
  });
  const { signal } = new AbortController();

  it.each(Object.entries(texts))('while secrets are redacted from %s', async (_, part) => {
    const text = part.repeat(590_000 / part.length);
    const scrub = (value: string, input: unknown) => scrubAnswer(longAnswer(value, input), { secrets, signal });
    expect(await holdOf(() => scrub(text, { content: text }))).toBe(0);
    expect(await holdOf(() => scrub(text.slice(0, 15_000), {}))).toBe(0);
    const values = Array.from({ length: 5_000 }, (_, at) => ({ [`k${at}`]: part }));
    expect(await holdOf(() => scrub(text, values))).toBe(0);
    const { response, text: shown } = await scrub(`${text} secret-3-abcdefghijklm`, {});
    expect([response.text, shown].filter((one) => one.includes('secret-3-abcdefghijklm'))).toEqual([]);
  });

  it.each(Object.entries(texts))('while %s are streamed', async (_, part) => {
    const text = part.repeat(590_000 / part.length);
    const follow = async () => {
      const redactor = createStreamRedactor(secrets.here());
      const live = createLiveText({ redactor, append: () => Promise.resolve(true), intervalMs: 5 });
      for (let at = 0; at < text.length; at += 20_000) {
        live.push(text.slice(at, at + 20_000));
        await delay(8);
      }
      await live.end();
    };
    expect(await holdOf(follow)).toBe(0);
  });

  it.each([
    ['short lines', '+a\n'],
    ['headings', 'diff --git a/a b/b\n'],
    ['no line', '+aaaaaaaaaaaaaaaaaaa'],
  ])('while a patch of 20 MB is counted: %s', async (_, line) => {
    const patch = `diff --git a/a b/b\n@@ -1 +1 @@\n${line.repeat(20e6 / line.length)}`;
    expect(await holdOf(() => changedLines(patch))).toBe(0);
  });

  it('while a conversation of 50 MB is read', async () => {
    const rows = Array.from({ length: 500 }, (_, index) => stepWith(index + 1, 'a\n'.repeat(50_000)));
    const prompts = [{ turn: 1, step: null, prompt: 'Go on.' }];
    const { read } = createTranscriptReader({
      steps: { listBetween: async () => rows },
      context: {
        read: async () => ({ prompts, notes: [], compaction: null, instructions: null, known: null, steps: [] }),
      },
    });
    const ref = { jobId: 'j', turn: 1, step: 501 };
    expect(await holdOf(async () => conversationOf(await read(ref)))).toBe(0);
  });
});

function stepWith(step: number, output: string): StepRow {
  const call = { toolCallId: `c${step}`, toolName: 'read', input: { path: 'a' } };
  return {
    jobId: 'j',
    turn: 1,
    step,
    fence: 1,
    model: null,
    toolsHash: null,
    response: { content: [{ type: 'tool-call', ...call }], text: '', toolCalls: [call] },
    finishReason: 'tool-calls',
    usage: { inputTokens: 1, outputTokens: 1 },
    cachedTokens: 0,
    costMicros: 0,
    toolResults: [{ toolCallId: call.toolCallId, toolName: 'read', output, isError: false }],
    tree: null,
    modelFailures: 0,
  };
}
