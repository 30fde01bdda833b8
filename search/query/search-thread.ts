import { parentPort } from 'node:worker_threads';
import type { PoolAnswer } from '../../lib/threads/thread-pool.ts';
import type { PoolMessage } from './search-pool.ts';
import { openSiteIndex, type OpenedIndex } from './site-index.ts';

const opened = new Map<string, OpenedIndex>();

function indexOf(file: string): OpenedIndex {
  const index = opened.get(file) ?? openSiteIndex(file);
  opened.set(file, index);
  return index;
}

function answerOf(message: Exclude<PoolMessage, { kind: 'close' }>): PoolAnswer {
  try {
    const index = indexOf(message.file).as(message.access);
    return { result: message.kind === 'search' ? index.search(message.request) : index.suggest(message.request) };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}

/** Searches indexes in its own thread. An index stays open until a message closes it. */
parentPort?.on('message', (message: PoolMessage) => {
  if (message.kind !== 'close') return parentPort?.postMessage(answerOf(message));
  opened.get(message.file)?.[Symbol.dispose]();
  opened.delete(message.file);
});
