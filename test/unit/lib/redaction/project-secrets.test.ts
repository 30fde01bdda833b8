import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { scrub } from '../../../../activities/model/transcript/scrub-answer.ts';
import { createKnownSecrets, type KnownSecrets } from '../../../../lib/redaction/known-secrets.ts';
import { createStreamRedactor } from '../../../../lib/redaction/redact-stream.ts';
import { fc, propertyRuns } from '../../../support/properties.ts';

const writing = { path: 'config/production.ts', content: 'export const stage = "production";' };

function answerWith(input: unknown) {
  const toolCalls = [{ toolCallId: 'call_1', toolName: 'write', input }];
  const content = [
    { type: 'text', text: 'production' },
    { type: 'tool-call', ...toolCalls[0] },
  ];
  return {
    response: { content, text: 'production', toolCalls },
    receivedCharacters: 100,
    usage: { inputTokens: 1, outputTokens: 1 },
    costMicros: null,
    finishReason: 'tool-calls',
  };
}

/** Everything that a worker makes of a text in its current work. */
async function madeOf(text: string, secrets: KnownSecrets): Promise<string[]> {
  await nextTurn();
  const stream = createStreamRedactor(secrets.here());
  const { response, events } = scrub({ ...answerWith({ text }), receivedCharacters: text.length }, secrets);
  return [
    secrets.redact(text),
    secrets.mask(text),
    secrets.maskInput(text),
    stream.push(text) + stream.end(),
    JSON.stringify([response, events]),
  ];
}

it('leaves the work for one project as it is, whatever the secrets of others are', async () => {
  const word = fc.stringMatching(/^[a-zA-Z0-9/]{6,20}$/);
  const strong = fc.stringMatching(/^[A-Z]{3}[0-9]{9}$/);
  const many = { minLength: 1, maxLength: 4 };
  const cases = fc.record({ words: fc.array(word, many), own: strong, ofProcess: strong, rest: fc.lorem() });
  await fc.assert(
    fc.asyncProperty(cases, async ({ words, own, ofProcess, rest }) => {
      const said = [...words, rest].join(' _ ');
      const expected = await madeOf(said, createKnownSecrets([ofProcess, own]));
      const secrets = createKnownSecrets([ofProcess]);
      await Promise.all([
        secrets.during(async () => {
          secrets.learn('other', words);
          const outputs = await madeOf(said, secrets);
          for (const secret of words) for (const text of outputs.slice(0, 2)) expect(text).not.toContain(secret);
        }),
        secrets.during(async () => {
          secrets.learn('ours', [own]);
          expect(await madeOf(said, secrets)).toEqual(expected);
          for (const text of await madeOf(`${own} ${ofProcess}`, secrets)) {
            expect(text).not.toContain(own);
            expect(text).not.toContain(ofProcess);
          }
        }),
      ]);
      for (const secret of [...words, own, ofProcess])
        expect(secrets.redactLog(`${said} ${own}`)).not.toContain(secret);
    }),
    { numRuns: propertyRuns(100) },
  );
});

it('knows everything that a project ever brought, once work for it begins', () => {
  const secrets = createKnownSecrets([]);
  secrets.during(() => secrets.learn('project_1', ['Old-Token-1']));
  const text = 'Old-Token-1 New-Token-2';
  const begun = secrets.during(() => {
    expect(secrets.redact(text)).toBe(text);
    secrets.learn('project_1', ['New-Token-2']);
    return secrets.here();
  });
  expect(begun.redact(text)).toBe('[redacted] [redacted]');
  expect(begun.values).toEqual(['Old-Token-1', 'New-Token-2']);
  // text whose work is not known is redacted as far as possible
  expect(secrets.mask(text)).toBe('[redacted] [redacted]');
});

it('does not rewrite the calls of a project whose secret is a plain word', () => {
  const secrets = createKnownSecrets([]);
  const { response, events, text } = secrets.during(() => {
    secrets.learn('project_1', ['production', 'Kx92-production']);
    return scrub(answerWith({ ...writing, token: 'Kx92-production' }), secrets);
  });
  const input = { ...writing, token: '[redacted]' };
  expect(response.toolCalls).toMatchObject([{ input }]);
  expect(response.content).toEqual([
    { type: 'text', text: '[redacted]' },
    { type: 'tool-call', toolCallId: 'call_1', toolName: 'write', input },
  ]);
  expect(text).toBe('[redacted]');
  expect(JSON.stringify(events)).not.toContain('production');
});
