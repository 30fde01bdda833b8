import type { StreamRedactor } from '../../lib/redaction/redact-stream.ts';
import { textChunks } from '../../lib/text-chunks.ts';

/** Text and its position within the attempt. */
export interface LiveChunk {
  offset: number;
  text: string;
}

export interface LiveTextDeps {
  redactor: StreamRedactor;
  /** Returns false when the attempt was superseded or the turn has ended. `isRepeated` is set after a failed append. */
  append(chunk: LiveChunk & { isRepeated: boolean }): Promise<boolean>;
  intervalMs?: number;
}

export interface StreamedText {
  /** Text that is not appended yet; null when unknown. */
  rest: LiveChunk[] | null;
  whole: LiveChunk[];
}

/** In UTF-16 code units: an event of this length fits its limit whatever the characters are. */
const maxChunkLength = 2_000;
/** Longest text that is redacted while it streams; the beginning of a possible secret is examined repeatedly. */
const maxTextLength = 64_000;

/**
 * Appends at most once per interval. A database failure does not affect the model call: the text waits for the next
 * interval.
 */
export function createLiveText({ redactor, append, intervalMs = 100 }: LiveTextDeps) {
  let raw = '';
  let length = 0;
  const whole: LiveChunk[] = [];
  let waiting: LiveChunk[] = [];
  let offset = 0;
  let isRepeated = false;
  let isRefused = false;
  let isEnding = false;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;

  function queue(text: string): void {
    const chunks = liveChunksOf(text, offset);
    whole.push(...chunks);
    waiting.push(...chunks);
    offset += text.length;
  }

  const isLong = () => length > maxTextLength;

  function take(): void {
    const text = raw;
    raw = '';
    queue(redactor.push(text));
  }

  async function flush(): Promise<void> {
    if (isLong()) return;
    take();
    try {
      for (let [chunk] = waiting; chunk !== undefined && !isRefused && !isLong(); [chunk] = waiting) {
        const isTaken = await append({ ...chunk, isRepeated });
        isRepeated = false;
        waiting = waiting.slice(1);
        isRefused = !isTaken;
      }
    } catch {
      isRepeated = true;
    }
  }

  function schedule(): void {
    // at the same moments in all calls of a process, so that their texts are appended together
    const waitMs = Math.ceil(intervalMs - (performance.now() % intervalMs));
    timer = setTimeout(() => {
      running = flush().then(() => {
        timer = null;
        running = null;
        if (!isRefused && !isEnding && !isLong() && (raw !== '' || waiting.length > 0)) schedule();
      });
    }, waitMs);
  }

  return {
    push(delta: string): void {
      length += delta.length;
      if (isLong()) raw = '';
      else raw += delta;
      if (timer === null && !isRefused && !isLong() && delta !== '') schedule();
    },
    /** Stops appending. Returns null when the text is too long to stream; it is then sent as a whole. */
    async end(): Promise<StreamedText | null> {
      isEnding = true;
      if (timer !== null) clearTimeout(timer);
      await running;
      if (isLong()) return null;
      take();
      queue(redactor.end());
      return { rest: isRefused || isRepeated ? null : waiting, whole };
    },
  };
}

/** Cuts a text into the chunks that events hold; `offset` is its position within the attempt. */
export function liveChunksOf(text: string, offset = 0): LiveChunk[] {
  return Array.from(textChunks(text, maxChunkLength), (chunk) => ({ ...chunk, offset: offset + chunk.offset }));
}
