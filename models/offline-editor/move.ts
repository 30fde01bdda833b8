export interface ToolCall {
  id: string;
  toolName: string;
  input: Record<string, unknown>;
}

/** What comes next for a command: calls to make, or how it ended. */
export type Move =
  | { kind: 'calls'; calls: ToolCall[] }
  | { kind: 'done'; note: string }
  | { kind: 'failed'; note: string; isPartial?: boolean };

/** What a failed tool answered: its first sentence, which says what is wrong. The rest is advice for the next call. */
export function reasonOf(text: string): string {
  const [line = ''] = text.trim().split('\n', 1);
  const [sentence = ''] = line.split(/(?<=[.!?])\s+(?=\p{Lu})/u, 1);
  return cut(sentence, 200);
}

/** A text as one line of at most `length` characters; no character is cut in half. */
export function cut(text: string, length: number): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  if (line.length <= length) return line;
  return `${line.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}
