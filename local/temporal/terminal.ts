export interface Output {
  log(line: string): void;
  /** Replaces the line at the cursor; an empty text clears it. Absent when the output is not a terminal. */
  redraw?(text: string): void;
}

const lineMs = 15_000;
const redrawMs = 200;
const barWidth = 24;
const clearLine = '\r\u001B[2K';

/** Prints lines. On a terminal, keeps one changing line below them. */
export function createOutput(stream: NodeJS.WriteStream): Output {
  if (!stream.isTTY) return { log: (line) => void stream.write(`${line}\n`) };
  let shown = '';
  return {
    log: (line) => void stream.write(`${shown === '' ? '' : clearLine}${line}\n${shown}`),
    redraw(text) {
      if (text === shown) return;
      shown = text.slice(0, stream.columns - 1);
      stream.write(clearLine + shown);
    },
  };
}

export interface Progress {
  text: string;
  /** Between 0 and 1; null when unknown. */
  fraction: number | null;
}

/** Shows progress until disposed of: a bar on a terminal, otherwise a line every 15 seconds. */
export function showProgress({ log, redraw }: Output, read: () => Progress): Disposable {
  const draw = () => {
    const { text, fraction } = read();
    redraw?.(`  ${fraction === null ? '' : `${barOf(fraction)} `}${text}`);
  };
  const timer = redraw === undefined ? setInterval(() => log(`  ${read().text}`), lineMs) : setInterval(draw, redrawMs);
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      redraw?.('');
    },
  };
}

function barOf(fraction: number): string {
  const done = Math.round(Math.min(fraction, 1) * barWidth);
  return `[${'#'.repeat(done)}${'-'.repeat(barWidth - done)}] ${String(Math.floor(fraction * 100)).padStart(3)}%`;
}

/** Formats bytes as megabytes for people. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`;
}
