import type { StreamRedactor } from '../../lib/redaction/redact-stream.ts';

/** Text and its position within the attempt. */
export interface LivePiece {
  offset: number;
  text: string;
}

export interface LiveTextDeps {
  redactor: StreamRedactor;
  /** Returns false when the attempt was superseded or the turn has ended. `isRepeated` is set after a failed append. */
  append(piece: LivePiece & { isRepeated: boolean }): Promise<boolean>;
  intervalMs?: number;
}

/** The text of a step, sent to watchers while the model produces it. */
export interface LiveText {
  push(delta: string): void;
  /** Stops appending. Returns null when the text is too long to stream; it is then sent as a whole. */
  end(): Promise<SpokenText | null>;
}

export interface SpokenText {
  /** Text that is not appended yet; null when unknown. */
  rest: LivePiece[] | null;
  whole: LivePiece[];
}

/** In UTF-16 code units: an event of this length fits its limit whatever the characters are. */
const longestPiece = 2_000;
/** Longest text that is redacted while it streams; the beginning of a possible secret is examined repeatedly. */
const longestText = 64_000;

/**
 * Appends at most once per interval. A database failure does not affect the model call: the text waits for the next
 * interval.
 */
export function createLiveText({ redactor, append, intervalMs = 100 }: LiveTextDeps): LiveText {
  let raw = '';
  let length = 0;
  const whole: LivePiece[] = [];
  let waiting: LivePiece[] = [];
  let offset = 0;
  let isRepeated = false;
  let isRefused = false;
  let isEnding = false;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;

  function queue(text: string): void {
    const pieces = piecesOf(text, offset);
    whole.push(...pieces);
    waiting.push(...pieces);
    offset += text.length;
  }

  const isLong = () => length > longestText;

  function take(): void {
    const text = raw;
    raw = '';
    queue(redactor.push(text));
  }

  async function flush(): Promise<void> {
    if (isLong()) return;
    take();
    try {
      for (let [piece] = waiting; piece !== undefined && !isRefused && !isLong(); [piece] = waiting) {
        const isTaken = await append({ ...piece, isRepeated });
        isRepeated = false;
        waiting = waiting.slice(1);
        isRefused = !isTaken;
      }
    } catch {
      isRepeated = true;
    }
  }

  function schedule(): void {
    timer = setTimeout(() => {
      running = flush().then(() => {
        timer = null;
        running = null;
        if (!isRefused && !isEnding && !isLong() && (raw !== '' || waiting.length > 0)) schedule();
      });
    }, intervalMs);
  }

  return {
    push(delta) {
      length += delta.length;
      if (isLong()) raw = '';
      else raw += delta;
      if (timer === null && !isRefused && !isLong() && delta !== '') schedule();
    },
    async end() {
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

/** Returns a text in pieces of whole characters. */
export function piecesOf(text: string, offset = 0): LivePiece[] {
  const pieces: LivePiece[] = [];
  for (let at = 0; at < text.length;) {
    const piece = wholeCharacters(text.slice(at, at + longestPiece), text.length - at);
    pieces.push({ offset: offset + at, text: piece });
    at += piece.length;
  }
  return pieces;
}

/** Returns the text without half of a surrogate pair at the end. */
function wholeCharacters(piece: string, available: number): string {
  const isHalf = piece.length > 1 && piece.length < available && /[\ud800-\udbff]$/.test(piece);
  return isHalf ? piece.slice(0, -1) : piece;
}
