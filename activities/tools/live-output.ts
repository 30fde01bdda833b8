import type { StreamRedactor } from '../../lib/redaction/redact-stream.ts';
import { liveChunksOf, type LiveChunk } from '../model/live-text.ts';
import type { OutputSample } from '../sandbox/sample-output.ts';
import { cleanOutput } from './clean-output.ts';

/** A part of a command's output; the last one has the duration. */
export interface OutputChunk extends LiveChunk {
  durationMs: number | null;
}

export interface LiveOutputDeps {
  createRedactor(): StreamRedactor;
  /** Returns false when nothing more is accepted. */
  append(chunks: OutputChunk[]): Promise<boolean>;
  /** First line, such as the command. */
  heading?: string;
  intervalMs?: number;
}

/** Chunks per interval; faster output is thinned to the newest ones, and the offsets show what is missing. */
const maxChunks = 4;
/** A command that has printed this many characters is sampled less. */
const manyCharacters = 64_000;
const slowdown = 8;
/**
 * After skipped bytes, this many characters are redacted but not shown, because they may hold the end of a secret whose
 * beginning was skipped.
 */
const unseenCharacters = 4 * 1024;
/** Text that may begin a secret is examined again with each sample, so that a longer one is skipped. */
const maxHeldLength = 16 * 1024;
/** An unfinished line this long is shown. */
const maxLineLength = 2_000;
const lineFeed = 0x0a;
const nothing = Buffer.alloc(0);

/** The output of a command, sent to watchers while it runs. */
export type LiveOutput = ReturnType<typeof createLiveOutput>;

/** Appends at most once per interval, and one append after the other. A database failure delays the output. */
export function createLiveOutput({ createRedactor, append, heading = '', intervalMs = 250 }: LiveOutputDeps) {
  let redactor = createRedactor();
  let line = nothing;
  let isMidLine = false;
  let held = 0;
  let unseen = 0;
  let isAfterGap = false;
  let offset = 0;
  let sent = 0;
  let waiting: LiveChunk[] = [{ offset: 0, text: '' }];
  let isRefused = false;
  let isEnding = false;
  let timer: NodeJS.Timeout | null = null;

  function show(text: string): void {
    const seen = afterGap(text);
    offset += text.length - seen.length;
    if (seen === '') return;
    waiting = [...waiting, ...liveChunksOf(seen, offset)].slice(-maxChunks);
    offset += seen.length;
  }

  /** Returns the text without what must not be seen after skipped output, up to the next line. */
  function afterGap(text: string): string {
    if (!isAfterGap) return text;
    const rest = text.slice(unseen);
    unseen -= text.length - rest.length;
    const lineEnd = rest.indexOf('\n');
    if (unseen > 0 || lineEnd === -1) return '';
    isAfterGap = false;
    return rest.slice(lineEnd + 1);
  }

  function skip(bytes: number): void {
    offset += bytes + line.length;
    line = nothing;
    redactor = createRedactor();
    held = 0;
    unseen = unseenCharacters;
    isAfterGap = true;
  }

  /** Redacts and shows whole lines, or the beginning of one. */
  function take(output: Buffer): void {
    if (output.length === 0) return;
    const isRewritten = isMidLine && /^[^\n]*\r(?!\n)/.test(output.toString('latin1'));
    isMidLine = output.at(-1) !== lineFeed;
    const text = `${isRewritten ? '\n' : ''}${cleanOutput(output)}`;
    const safe = redactor.push(text);
    show(safe);
    held = Math.max(0, held + text.length - safe.length);
    if (held > maxHeldLength) skip(held);
  }

  function takeLine(): void {
    take(line);
    line = nothing;
  }

  async function flush(): Promise<void> {
    const chunks = sent > manyCharacters ? waiting.slice(-1) : waiting;
    if (chunks.length === 0 || isRefused) return;
    waiting = [];
    try {
      isRefused = !(await append(chunks.map((chunk) => ({ ...chunk, durationMs: null }))));
      sent += chunks.reduce((sum, { text }) => sum + text.length, 0);
    } catch {
      waiting = [...chunks, ...waiting].slice(-maxChunks);
    }
  }

  function schedule(): void {
    if (timer !== null || isRefused || isEnding) return;
    timer = setTimeout(
      () => {
        takeLine();
        running = running.then(flush).then(() => {
          timer = null;
          if (waiting.length > 0 || line.length > 0) schedule();
        });
      },
      sent > manyCharacters ? slowdown * intervalMs : intervalMs,
    );
  }

  take(Buffer.from(heading));
  let running = flush();
  return {
    push({ skipped, bytes }: OutputSample): void {
      if (isRefused || isEnding) return;
      if (skipped > 0) skip(skipped);
      const output = Buffer.concat([line, bytes]);
      const end = output.length > maxLineLength ? output.length : output.lastIndexOf(lineFeed) + 1;
      line = output.subarray(end);
      take(output.subarray(0, end));
      schedule();
    },
    async end(durationMs: number | null): Promise<void> {
      isEnding = true;
      if (timer !== null) clearTimeout(timer);
      await running;
      if (isRefused) return;
      takeLine();
      show(redactor.end());
      const last: OutputChunk = { offset, text: '', durationMs };
      await append([...waiting.map((chunk) => ({ ...chunk, durationMs: null })), last]).catch(() => false);
    },
  };
}
