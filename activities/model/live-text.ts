import type { StreamRedactor } from '../../lib/redaction/redact-stream.ts';

/** Text and where it stands within the attempt. */
export interface LivePiece {
  offset: number;
  text: string;
}

export interface LiveTextDeps {
  redactor: StreamRedactor;
  /** False: the attempt was overtaken or the turn has ended. `isRepeated` is set after an append that failed. */
  append(piece: LivePiece & { isRepeated: boolean }): Promise<boolean>;
  intervalMs?: number;
}

/** The text of a step on its way to the watchers while the model speaks. */
export interface LiveText {
  push(delta: string): void;
  /** Stops appending. */
  end(): Promise<SpokenText>;
}

export interface SpokenText {
  /** What is not appended yet; null when nobody knows. */
  rest: LivePiece[] | null;
  whole: LivePiece[];
}

/** In UTF-16 units: an event of so many fits its limit in whatever characters. */
const longestPiece = 2_000;

/** Appends at most once per interval. Trouble with the database is none of the model's: the text waits for the next time. */
export function createLiveText({ redactor, append, intervalMs = 100 }: LiveTextDeps): LiveText {
  let raw = '';
  const whole: LivePiece[] = [];
  let waiting: LivePiece[] = [];
  let offset = 0;
  let isRepeated = false;
  let isRefused = false;
  let isEnding = false;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;

  function queue(text: string): void {
    for (let at = 0; at < text.length;) {
      const piece = wholeCharacters(text.slice(at, at + longestPiece), text.length - at);
      whole.push({ offset, text: piece });
      waiting.push({ offset, text: piece });
      offset += piece.length;
      at += piece.length;
    }
  }

  function take(): void {
    const text = raw;
    raw = '';
    queue(redactor.push(text));
  }

  async function flush(): Promise<void> {
    take();
    try {
      for (let [piece] = waiting; piece !== undefined && !isRefused; [piece] = waiting) {
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
        if (!isRefused && !isEnding && (raw !== '' || waiting.length > 0)) schedule();
      });
    }, intervalMs);
  }

  return {
    push(delta) {
      raw += delta;
      if (timer === null && !isRefused && delta !== '') schedule();
    },
    async end() {
      isEnding = true;
      if (timer !== null) clearTimeout(timer);
      await running;
      take();
      queue(redactor.end());
      return { rest: isRefused || isRepeated ? null : waiting, whole };
    },
  };
}

/** Without half a surrogate pair at the end. */
function wholeCharacters(piece: string, available: number): string {
  const isHalf = piece.length > 1 && piece.length < available && /[\ud800-\udbff]$/.test(piece);
  return isHalf ? piece.slice(0, -1) : piece;
}
