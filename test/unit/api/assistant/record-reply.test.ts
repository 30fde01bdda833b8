import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createReplyRecorder } from '../../../../api/assistant/record-reply.ts';
import type { ReplyStore } from '../../../../db/sites/replies.ts';

/** A store in memory; `fail` makes the next statements fail. */
function memoryStore() {
  const chunks: string[] = [];
  const state = { ended: false, delivered: false, failing: 0, appends: 0 };
  const fail = () => {
    if (state.failing === 0) return;
    state.failing -= 1;
    throw new Error('The database is away.');
  };
  const store: ReplyStore = {
    create: () => Promise.resolve('token'),
    async append({ position, data }) {
      state.appends += 1;
      fail();
      if (state.ended) return false;
      chunks[position] = data;
      return true;
    },
    heartbeat: () => Promise.resolve(true),
    async end({ tail }) {
      fail();
      if (state.ended) return false;
      state.ended = true;
      if (tail !== null) chunks.push(tail);
      return true;
    },
    async markDelivered() {
      state.delivered = true;
    },
    findResumable: () => Promise.resolve(null),
    read: (_id, from) => Promise.resolve({ chunks: chunks.slice(from), ended: state.ended, silentSeconds: 0 }),
  };
  return { store, state, kept: () => chunks.join('') };
}

/** Fakes the timers, with those of `node:timers/promises`, which `vi.useFakeTimers` leaves as they are. */
function useFakeTimers(): void {
  vi.useFakeTimers();
  const sleep = vi.spyOn(timers, 'setTimeout').mockImplementation((ms, value, { signal } = {}) => {
    const { promise, resolve, reject } = Promise.withResolvers<any>();
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener('abort', () => reject(signal.reason));
    setTimeout(resolve, ms, value);
    return promise;
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    sleep.mockRestore();
    syncBuiltinESMExports();
    vi.useRealTimers();
  });
}

function record(store: ReplyStore) {
  useFakeTimers();
  const sent: string[] = [];
  const onTakenOver = vi.fn<() => void>();
  const logger = pino({ level: 'silent' });
  const recorder = createReplyRecorder({
    replies: store,
    id: 'rpl_1',
    logger,
    send: (text) => void sent.push(text),
    tail: '(lost)',
    onTakenOver,
  });
  return { recorder, sent: () => sent.join(''), onTakenOver };
}

describe('createReplyRecorder', () => {
  it('sends nothing that is not stored', async () => {
    const { store, kept } = memoryStore();
    const { recorder, sent } = record(store);
    const seen: [string, string][] = [];
    for (const letter of 'abcdefgh') {
      recorder.append(letter);
      await vi.advanceTimersByTimeAsync(20);
      seen.push([sent(), kept()]);
    }
    await recorder.end();
    for (const [before, record] of seen) expect(record.startsWith(before)).toBe(true);
    expect(seen[0]).toEqual(['a', 'a']);
    expect(sent()).toBe('abcdefgh');
    expect(kept()).toBe('abcdefgh');
  });

  it('combines rapid writes into a few statements', async () => {
    const { store, state } = memoryStore();
    const { recorder } = record(store);
    for (let count = 0; count < 1_000; count += 1) {
      recorder.append('x');
      await vi.advanceTimersByTimeAsync(1);
    }
    await recorder.end();
    expect(state.appends).toBeLessThan(25);
  });

  it('continues storing after a short database outage, in order and once', async () => {
    const { store, state, kept } = memoryStore();
    const { recorder, sent } = record(store);
    recorder.append('a');
    await vi.advanceTimersByTimeAsync(100);
    state.failing = 3;
    recorder.append('b');
    await vi.advanceTimersByTimeAsync(50);
    recorder.append('c');
    expect(sent()).toBe('a');
    await vi.advanceTimersByTimeAsync(5_000);
    state.failing = 1;
    const ended = recorder.end();
    await vi.advanceTimersByTimeAsync(5_000);
    await ended;
    expect([kept(), sent(), state.ended]).toEqual(['abc', 'abc', true]);
  });

  it('keeps serving its reader when the database stays down', async () => {
    const { store, state, kept } = memoryStore();
    const { recorder, sent } = record(store);
    recorder.append('a');
    await vi.advanceTimersByTimeAsync(100);
    state.failing = Infinity;
    recorder.append('b');
    await vi.advanceTimersByTimeAsync(10_000);
    recorder.append('c');
    await recorder.end();
    await recorder.delivered();
    expect([sent(), kept(), state.ended, state.delivered]).toEqual(['abc', 'a', false, false]);
  });

  it('gives its reader the end that another process wrote', async () => {
    const { store, kept } = memoryStore();
    const { recorder, sent, onTakenOver } = record(store);
    recorder.append('a');
    await vi.advanceTimersByTimeAsync(100);
    await store.end({ id: 'rpl_1', tail: '!' });
    recorder.append('b');
    await vi.advanceTimersByTimeAsync(100);
    recorder.append('c');
    await recorder.end();
    expect(onTakenOver).toHaveBeenCalledOnce();
    expect([sent(), kept()]).toEqual(['a!', 'a!']);
  });

  it('ends for its reader when its record is deleted', async () => {
    const { store, state } = memoryStore();
    const { recorder, sent } = record(store);
    recorder.append('a');
    await vi.advanceTimersByTimeAsync(100);
    state.ended = true;
    recorder.append('b');
    await recorder.end();
    expect(sent()).toBe('a(lost)');
  });

  it('stores everything that was appended before a flush ends', async () => {
    const { store, kept } = memoryStore();
    const { recorder, sent } = record(store);
    recorder.append('a');
    recorder.append('b');
    await recorder.flush();
    expect([sent(), kept()]).toEqual(['ab', 'ab']);
    recorder.append('c');
    await recorder.end();
    await recorder.delivered();
    expect(kept()).toBe('abc');
  });
});
