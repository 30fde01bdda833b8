import { createHash } from 'node:crypto';
import type { ReadingState, SourceThread, SourceThreadStore } from '../../../db/sites/source-threads.ts';
import type { SourceRef } from '../../../db/sites/site-sources.ts';
import { indexFormat } from '../../../search/query/index-format.ts';
import { ForgeError } from '../../forges/forge.ts';
import { SourceFolderError } from '../../workspaces/source-folder.ts';
import { PageError } from '../content/page-error.ts';
import { createContentReader, type ContentReader } from '../content/content-reader.ts';
import {
  isTooLong,
  type ListedThread,
  type ThreadClient,
  type ThreadContent,
  type ThreadReply,
} from './thread-client.ts';

/** Which threads of a server a site has. */
export interface WantedThreads extends SourceRef {
  threads: 'answered' | 'all';
  labels: string[];
  groups: string[];
  /** The settings of the source; when they change, everything is read again. */
  settings: string;
  /** Creates the client that reads until a signal ends it. */
  connect(signal: AbortSignal): ThreadClient;
}

export interface ThreadLimits {
  /** Time between requests to a forge or a forum, and for all of them. */
  delayMs: number;
  forumDelayMs: number;
  readMs: number;
  threads: number;
  /** Entries of the list, of which many may be no issues. */
  entries: number;
  repliesPerThread: number;
  /** Characters of a question or reply, and of all of a thread. */
  maxTextLength: number;
  maxThreadLength: number;
  /** Time after which the whole list is read again, to find deleted threads. */
  relistMs: number;
}

export const threadLimits: ThreadLimits = {
  delayMs: 100,
  forumDelayMs: 400,
  readMs: 15 * 60_000,
  threads: 2_000,
  entries: 10_000,
  repliesPerThread: 50,
  maxTextLength: 10_000,
  maxThreadLength: 40_000,
  relistMs: 24 * 60 * 60_000,
};

export interface ThreadDeps {
  store: SourceThreadStore;
  limits: ThreadLimits;
  redact(text: string): string;
}

export interface ReadThreads {
  /** Threads that are pages. */
  threads: SourceThread[];
  /** Why not everything was read, as a sentence; null if it was. */
  problem: string | null;
  /** The first threads that could not be read, as sentences. */
  skipped: string[];
  /** The threads are not public, so their earlier pages must be removed. */
  isWithdrawn: boolean;
}

interface Scene {
  source: WantedThreads;
  client: ThreadClient;
  reader: ContentReader;
  deps: ThreadDeps;
  signal: AbortSignal;
  /** Notes a sentence about a thread. */
  skip(sentence: string): void;
}

const maxSkipped = 20;
const maxTitleLength = 300;
const unavailableInRow = 5;

/**
 * Reads the threads of an issue tracker that have changed since they were last read, and stores them. An interrupted read resumes the next time; until then the threads that it did not reach stay unchanged. Without groups, it reads only public threads. Errors: SourceFolderError when nothing has been read.
 */
export async function readThreads(
  deps: ThreadDeps,
  { source, signal }: { source: WantedThreads; signal: AbortSignal },
): Promise<ReadThreads> {
  const { store, limits } = deps;
  const timeout = AbortSignal.timeout(limits.readMs);
  const until = AbortSignal.any([signal, timeout]);
  await using reader = createContentReader();
  const client = source.connect(until);
  const skipped: string[] = [];
  const skip = (sentence: string) => void (skipped.length < maxSkipped && skipped.push(sentence));
  const state = await store.open(source, source.settings);
  let problem: string | null = null;
  try {
    const refusal = source.groups.length === 0 ? await client.problemWithAccess() : null;
    if (refusal !== null) {
      await store.forget(source);
      return { threads: [], problem: refusal, skipped, isWithdrawn: true };
    }
    await readChanges({ source, client, reader, deps, signal: until, skip }, state);
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted)
      problem = `Reading stopped after ${Math.ceil(limits.readMs / 60_000)} minutes and continues at the next re-index.`;
    else if (error instanceof ForgeError) problem = error.message;
    else throw error;
  }
  const threads = (await store.list(source)).filter(({ name }) => name !== null);
  if (threads.length === 0 && problem !== null) throw new SourceFolderError(problem);
  return { threads, problem, skipped, isWithdrawn: false };
}

/** Reads the changes; from time to time the whole list, because lists of changes omit deleted threads. */
async function readChanges(scene: Scene, state: ReadingState): Promise<void> {
  const { source, client, skip, deps } = scene;
  const { store, limits } = deps;
  const isWhole = state.listedAt === null || Date.now() - state.listedAt.getTime() >= limits.relistMs;
  const since = isWhole ? null : state.readUntil;
  const known = new Map((await store.list(source)).map((thread) => [thread.id, thread]));
  const seen = new Set<string>();
  // among changes, threads that are no longer settled matter too
  const query = { since, isSettled: isWhole && source.threads === 'answered', etag: isWhole ? null : state.etag };
  let { readUntil } = state;
  let etag: string | null = null;
  let entries = 0;
  let isFull = false;
  const read = createTolerant(scene);
  for await (const page of client.list(query)) {
    etag ??= page.etag;
    // the end, whatever the server says of further pages
    if (page.entries.length === 0) break;
    entries += page.entries.length;
    for (const thread of page.entries) {
      if (thread === null) continue;
      const { id, changedAt } = thread;
      if (readUntil === null || changedAt > readUntil) readUntil = changedAt;
      if (!isWanted(thread, source)) {
        if (known.has(id)) await store.remove(source, [id]);
        continue;
      }
      isFull = seen.size >= limits.threads;
      if (isFull) break;
      seen.add(id);
      if (known.get(id)?.version !== versionOf(thread)) await read.thread(thread);
    }
    isFull ||= entries >= limits.entries;
    if (isFull) break;
  }
  if (isFull) skip(`Only the first ${seen.size} threads of the list are indexed.`);
  // what could not be read is listed again
  if (read.hasFailed() || (entries === 0 && !isWhole)) return;
  if (isWhole)
    await store.remove(
      source,
      [...known.keys()].filter((id) => !seen.has(id)),
    );
  const listedAt = isWhole ? new Date() : state.listedAt;
  // a version belongs to the list of changes since one time
  await store.finish(source, { readUntil, etag: readUntil === since ? etag : null, listedAt });
}

/** A thread that an earlier release read in another way is read again with the next whole list. */
function versionOf({ version }: ListedThread): string {
  return `${indexFormat} ${version}`;
}

function isWanted({ isForAll, isSettled, labels }: ListedThread, { threads, labels: wanted }: WantedThreads): boolean {
  if (!isForAll || (threads === 'answered' && !isSettled)) return false;
  return wanted.length === 0 || labels.some((label) => wanted.includes(label));
}

/** Reads threads; one that fails stays as it was, unless several do in a row. */
function createTolerant(scene: Scene) {
  let inRow = 0;
  let hasFailed = false;
  return {
    hasFailed: () => hasFailed,
    async thread(thread: ListedThread): Promise<void> {
      try {
        await readThread(scene, thread);
        inRow = 0;
      } catch (error) {
        inRow += 1;
        if (!(error instanceof ForgeError) || error.kind !== 'unavailable' || inRow >= unavailableInRow) throw error;
        hasFailed = true;
        scene.skip(`${thread.url} could not be read.`);
      }
    },
  };
}

async function readThread({ source, reader, deps, signal, skip }: Scene, thread: ListedThread): Promise<void> {
  const { id, url } = thread;
  const { store, limits, redact } = deps;
  const content = await contentOf();
  if (content === 'gone') return store.remove(source, [id]);
  const name = content === null ? null : createHash('sha256').update(content).digest('hex');
  await store.put(source, { id, version: versionOf(thread), content, name });

  /** Returns the page as JSON; null for one that is not indexed. */
  async function contentOf(): Promise<string | null | 'gone'> {
    try {
      const read = await thread.read(limits.repliesPerThread);
      if (read === null) return 'gone';
      if (source.threads === 'answered' && !read.replies.some((reply) => isAnswer(reply, read))) return null;
      const page = await reader.read<'thread'>({ kind: 'thread', ...textOf(thread, read, deps) }, signal);
      // once more, because HTML may hide what a secret looks like
      return page.body === '' ? null : JSON.stringify({ ...page, body: redact(page.body) });
    } catch (error) {
      if (!(error instanceof PageError) && !isTooLong(error)) throw error;
      skip(`${url} ${error instanceof PageError ? error.message : 'is too long'}.`);
      return null;
    }
  }
}

/** A reply is an answer if it was accepted, or unless the person who asked wrote it. */
function isAnswer({ author, isAccepted }: ThreadReply, question: ThreadContent): boolean {
  return isAccepted || author === null || author !== question.author;
}

/** Returns the texts of a thread without secrets and without the names of its authors. */
function textOf(thread: ListedThread, content: ThreadContent, { redact, limits }: ThreadDeps) {
  const short = (text: string) => redact(text).slice(0, limits.maxTextLength);
  const question = short(content.text);
  let left = limits.maxThreadLength - question.length;
  const kept: { heading: string; text: string }[] = [];
  for (const reply of content.replies) {
    const text = short(reply.text);
    left -= text.length;
    if (left < 0) break;
    kept.push({ heading: headingOf(reply, content), text });
  }
  const title = redact(thread.title).replaceAll(/\s+/g, ' ').slice(0, maxTitleLength);
  return { url: thread.url, title, question, replies: kept, isHtml: content.isHtml };
}

function headingOf(reply: ThreadReply, content: ThreadContent): string {
  if (reply.isAccepted) return 'Accepted answer';
  if (!isAnswer(reply, content)) return 'Follow-up';
  return reply.isMaintainer ? 'Answer by a maintainer' : 'Answer';
}
