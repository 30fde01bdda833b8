import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLiveText, type LiveChunk } from '../../../../activities/model/live-text.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Chunk = LiveChunk & { isRepeated: boolean };

function liveText(append: (chunk: Chunk) => Promise<boolean>) {
  const plain = { push: (text: string) => text, end: () => '' };
  return createLiveText({ redactor: plain, append, intervalMs: 100 });
}

function recording() {
  const chunks: Chunk[] = [];
  const append = async (chunk: Chunk) => chunks.push(chunk) > 0;
  return { chunks, append };
}

it('appends the text of an interval at once, and nothing without text', async () => {
  const { chunks, append } = recording();
  const text = liveText(append);
  text.push('Hello');
  text.push(' there');
  await vi.advanceTimersByTimeAsync(100);
  await vi.advanceTimersByTimeAsync(500);
  text.push(', lamp');
  await vi.advanceTimersByTimeAsync(100);
  expect(chunks).toEqual([
    { offset: 0, text: 'Hello there', isRepeated: false },
    { offset: 11, text: ', lamp', isRepeated: false },
  ]);
  text.push('!');
  expect(await text.end()).toEqual({
    rest: [{ offset: 17, text: '!' }],
    whole: [...chunks.map(({ offset, text: said }) => ({ offset, text: said })), { offset: 17, text: '!' }],
  });
});

it('appends at the same moments as the other calls of the process', async () => {
  const moments: number[] = [];
  const texts = [1, 2, 3].map(() => liveText(async () => moments.push(performance.now()) > 0));
  for (const text of texts) {
    text.push('a');
    await vi.advanceTimersByTimeAsync(30);
  }
  await vi.advanceTimersByTimeAsync(100);
  expect(moments).toHaveLength(3);
  expect(new Set(moments)).toHaveLength(1);
});

it('appends one chunk after the other, however slow the database is', async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const asked: string[] = [];
  const text = liveText((chunk) => {
    asked.push(chunk.text);
    return asked.length === 1 ? promise : Promise.resolve(true);
  });
  text.push('a');
  await vi.advanceTimersByTimeAsync(100);
  text.push('b');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked).toEqual(['a']);
  const ended = text.end();
  resolve(true);
  expect(await ended).toMatchObject({ rest: [{ offset: 1, text: 'b' }] });
});

it('retries a failed append, marked as possibly already stored', async () => {
  const chunks: Chunk[] = [];
  const text = liveText(async (chunk) => {
    if (chunks.push(chunk) === 1) throw new Error('Connection terminated unexpectedly');
    return true;
  });
  text.push('a');
  await vi.advanceTimersByTimeAsync(100);
  text.push('b');
  await vi.advanceTimersByTimeAsync(100);
  expect(chunks.map((chunk) => [chunk.offset, chunk.text, chunk.isRepeated])).toEqual([
    [0, 'a', false],
    [0, 'a', true],
    [1, 'b', false],
  ]);
  expect(await text.end()).toMatchObject({ rest: [] });
});

it('stops when the text is no longer needed, and keeps all of it', async () => {
  let asked = 0;
  const text = liveText(async () => (asked += 1) > 1);
  text.push('a');
  await vi.advanceTimersByTimeAsync(100);
  text.push('b');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(asked).toBe(1);
  const { rest, whole } = (await text.end())!;
  expect([rest, whole.map((chunk) => chunk.text).join('')]).toEqual([null, 'ab']);
});

it('reports when it ends without knowing what was appended', async () => {
  const text = liveText(() => Promise.reject(new Error('Connection terminated unexpectedly')));
  text.push('a');
  await vi.advanceTimersByTimeAsync(100);
  expect(await text.end()).toEqual({ rest: null, whole: [{ offset: 0, text: 'a' }] });
});

it('splits a long text into chunks of whole characters', async () => {
  const { chunks, append } = recording();
  const text = liveText(append);
  const long = `a${'😀'.repeat(5_000)}`;
  text.push(long);
  await vi.advanceTimersByTimeAsync(100);
  expect(chunks.map((chunk) => chunk.text).join('')).toBe(long);
  for (const chunk of chunks) {
    expect(chunk.text.isWellFormed()).toBe(true);
    expect(Buffer.byteLength(chunk.text)).toBeLessThanOrEqual(8_000);
    expect(long.slice(chunk.offset).startsWith(chunk.text)).toBe(true);
  }
});

it('does not stream a text that is too long to be scanned repeatedly', async () => {
  const { chunks, append } = recording();
  const text = liveText(append);
  text.push('a'.repeat(60_000));
  text.push('a'.repeat(60_000));
  await vi.advanceTimersByTimeAsync(100);
  expect(await text.end()).toBe(null);
  expect(chunks).toEqual([]);
});
