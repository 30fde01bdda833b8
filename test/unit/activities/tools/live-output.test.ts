import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLiveOutput, type OutputChunk } from '../../../../activities/tools/live-output.ts';
import { createRedactor } from '../../../../lib/redaction/redactor.ts';
import { createStreamRedactor } from '../../../../lib/redaction/redact-stream.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const secret = 'correct-horse-battery-staple-1234';
const redactor = () => createStreamRedactor({ redact: createRedactor([secret]), values: [secret] });

function recorded({ heading, append }: { heading?: string; append?: () => Promise<boolean> } = {}) {
  const appended: OutputChunk[][] = [];
  const output = createLiveOutput({
    createRedactor: redactor,
    ...(heading === undefined ? {} : { heading }),
    async append(chunks) {
      const isTaken = (await append?.()) ?? true;
      appended.push(chunks);
      return isTaken;
    },
  });
  const push = (text: string | Buffer, skipped = 0) => output.push({ skipped, bytes: Buffer.from(text) });
  const shown = () => appended.flat().map(({ text }) => text);
  return { output, appended, push, shown };
}

it('announces the command at once, then sends lines in order, and ends with the duration', async () => {
  const { output, appended, push } = recorded({ heading: '$ npm test\n' });
  await vi.advanceTimersByTimeAsync(0);
  push('one\ntw');
  push('o\n');
  await vi.advanceTimersByTimeAsync(250);
  push('three');
  await output.end(1_234);
  expect(appended).toEqual([
    [
      { offset: 0, text: '', durationMs: null },
      { offset: 0, text: '$ npm test\n', durationMs: null },
    ],
    [
      { offset: 11, text: 'one\n', durationMs: null },
      { offset: 15, text: 'two\n', durationMs: null },
    ],
    [
      { offset: 19, text: 'three', durationMs: null },
      { offset: 24, text: '', durationMs: 1_234 },
    ],
  ]);
});

it('shows an unfinished line after an interval, and a rewritten one on a line of its own', async () => {
  const { push, shown } = recorded();
  push('Testing 10%');
  await vi.advanceTimersByTimeAsync(250);
  push('\rTesting 20%\rTesting 30%');
  await vi.advanceTimersByTimeAsync(250);
  push('\n\u001b[32mdone\u001b[0m\n');
  await vi.advanceTimersByTimeAsync(250);
  expect(shown().join('')).toBe('Testing 10%\nTesting 30%\ndone\n');
});

it('sends at most 8,000 characters per interval, with offsets that show what is missing', async () => {
  const { appended, push } = recorded();
  for (let at = 0; at < 10; at += 1) push(`${`${at}`.repeat(1_999)}\n`);
  await vi.advanceTimersByTimeAsync(250);
  const chunks = appended.flat().filter(({ text }) => text !== '');
  expect(chunks.map(({ offset, text }) => [offset, text.charAt(0)])).toEqual([
    [12_000, '6'],
    [14_000, '7'],
    [16_000, '8'],
    [18_000, '9'],
  ]);
});

it('slows down for a command that has printed much', async () => {
  const { appended, push } = recorded();
  const bytesOf = () => appended.flat().reduce((sum, { text }) => sum + text.length, 0);
  for (let at = 0; at < 400; at += 1) {
    push(`${'x '.repeat(3_999)}\n`);
    await vi.advanceTimersByTimeAsync(250);
  }
  // 100 seconds: 64,000 characters fast, then 2,000 every two seconds
  expect(bytesOf()).toBeLessThan(64_000 + 8_000 + 2_000 * 50);
  expect(bytesOf()).toBeGreaterThan(64_000);
});

it('shows no part of a secret, neither across samples nor where output was skipped', async () => {
  const { output, push, shown } = recorded();
  push(`key: ${secret.slice(0, 12)}`);
  await vi.advanceTimersByTimeAsync(250);
  push(`${secret.slice(12)}\nnext ${secret.slice(0, 16)}`);
  push(`${secret.slice(16)}\n${'y'.repeat(80)}\n${'z '.repeat(4_000)}\nafter\n`, 10);
  await output.end(1);
  const text = shown().join('');
  for (let at = 0; at + 6 <= secret.length; at += 1) expect(text).not.toContain(secret.slice(at, at + 6));
  expect(text).toContain('key: ');
  expect(text).toContain('after\n');
});

it('does not hold on to text that never ends', async () => {
  const { output, push, shown } = recorded();
  for (let at = 0; at < 100; at += 1) push(`sk-${'a1'.repeat(2_000)}`);
  push(`${'b '.repeat(5_000)}\nplain\n`);
  await output.end(1);
  expect(shown().join('')).toBe('plain\n');
});

it('keeps the newest output while the database is down, and stops when it is refused', async () => {
  let isDown = true;
  const { push, shown, appended } = recorded({
    async append() {
      if (isDown) throw new Error('Connection terminated unexpectedly');
      return false;
    },
  });
  push('one\n');
  await vi.advanceTimersByTimeAsync(300);
  isDown = false;
  await vi.advanceTimersByTimeAsync(300);
  expect(shown()).toEqual(['', 'one\n']);
  push('two\n');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(appended).toHaveLength(1);
});
