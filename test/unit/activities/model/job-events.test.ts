import { expect, it } from 'vitest';
import { eventsOfAnswer, eventsOfResults } from '../../../../activities/model/job-events.ts';
import { fc, propertyRuns } from '../../../support/properties.ts';

const redact = (text: string) => text.replaceAll('hunter2', '[redacted]');
const usage = { inputTokens: 1, outputTokens: 2 };

it('reports each call and the cost of the answer, without secrets', () => {
  const toolCalls = [{ toolCallId: 'c1', toolName: 'write', input: { path: 'a.txt', content: 'hunter2' } }];
  expect(eventsOfAnswer({ toolCalls, usage, costMicros: 1_500, finishReason: 'tool-calls' }, redact)).toEqual([
    {
      type: 'tool-call',
      data: { toolCallId: 'c1', toolName: 'write', input: { path: 'a.txt', content: '[redacted]' } },
    },
    { type: 'usage', data: { inputTokens: 1, outputTokens: 2, costUsd: 0.0015, finishReason: 'tool-calls' } },
  ]);
});

it('no event is larger than 16 KB, whatever a model calls and a tool returns', async () => {
  const large = fc.oneof(fc.string({ maxLength: 30_000, size: 'max' }), fc.constant('\u0001'.repeat(50_000)));
  const input = fc.oneof(fc.jsonValue(), large, fc.array(large), fc.dictionary(large, large));
  await fc.assert(
    fc.asyncProperty(input, large, async (input, text) => {
      const events = [
        ...eventsOfAnswer(
          { toolCalls: [{ toolCallId: text, toolName: text, input }], usage, costMicros: null, finishReason: 'x' },
          redact,
        ),
        ...eventsOfResults([{ toolCallId: text, toolName: text, output: text, isError: false }], null, redact),
      ];
      for (const { data } of events) expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThanOrEqual(16_384);
    }),
    { numRuns: propertyRuns(30) },
  );
});

it('reports the beginning of a result, and the files and lines of a change', async () => {
  const patch = `diff --git a/docs/a.md b/docs/a.md
--- a/docs/a.md
+++ b/docs/a.md
@@ -1,2 +1,3 @@
-colour
+color
+--- more
 same
diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+new
`;
  const snapshot = {
    tree: 't',
    commit: 'c',
    baseCommit: 'b',
    pack: Buffer.alloc(0),
    patch,
    changedFiles: 2,
    additions: 3,
    deletions: 1,
  };
  const result = { toolCallId: 'c1', toolName: 'read', output: 'x'.repeat(5_000), isError: false };
  expect(eventsOfResults([result], snapshot, redact)).toEqual([
    {
      type: 'tool-result',
      data: { toolCallId: 'c1', toolName: 'read', isError: false, output: 'x'.repeat(1_000), characters: 5_000 },
    },
    { type: 'diff', data: { changedFiles: 2, additions: 3, deletions: 1, files: ['docs/a.md', 'new.txt'] } },
  ]);
});
