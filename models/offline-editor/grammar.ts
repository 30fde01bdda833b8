import { cut, endOfQuoted, quotationMarks, quote, quotedPattern, unquote } from './literals.ts';

/** The sentences that the editor understands, each with its edit and the names of its placeholders. */
const forms = {
  'Replace "a" with "b" in PATH': ['replace', 'old', 'new', 'path'],
  'Replace "a" with "b" everywhere': ['replace-everywhere', 'old', 'new'],
  'Create PATH with "text"': ['create', 'path', 'text'],
  'Append "text" to PATH': ['append', 'text', 'path'],
  'Delete PATH': ['delete', 'path'],
  'Rename PATH to PATH': ['rename', 'from', 'to'],
  'Run "command"': ['run', 'command'],
} as const satisfies Record<string, [kind: string, ...fields: string[]]>;

type Form = (typeof forms)[keyof typeof forms];
type Field = 'old' | 'new' | 'path' | 'text' | 'from' | 'to' | 'command';

/** One edit, with the fields that its sentence names. */
export type Command = { kind: Form[0] } & { [name in Field]?: string };

/** A sentence of a prompt with its commands, in order; null when any part of it is not understood. */
export interface Sentence {
  text: string;
  commands: Command[] | null;
}

/** Sentences that show a person what the editor can do. */
export const grammarHelp = Object.keys(forms);

/** A path is quoted, or ends before the punctuation that ends a sentence. */
const barePath = `[^\\s${quotationMarks}]*[^\\s${quotationMarks}.,;:!?)]`;
const pathPattern = `(?:(?:the|an?(?:\\s+new)?)\\s+file\\s+)?(${quotedPattern}|${barePath})`;

const grammar = Object.entries(forms).map(([sentence, [kind, ...fields]]) => {
  const words = sentence.split(' ');
  const patterns = words.map((word) => {
    if (word.startsWith('"')) return `(${quotedPattern})`;
    return word === 'PATH' ? pathPattern : `${word}(?![\\p{L}\\p{N}_-])`;
  });
  return { words, kind, fields, pattern: new RegExp(patterns.join('\\s*'), 'iuy') };
});

const sentenceStart =
  /(?:[\s.;,!]|[-*•]\s|\d{1,3}[.)]\s|(?:and|then|also|next|finally|first|please)(?![\p{L}\p{N}_/.-]))*/iuy;
const sentenceEnd = /[^\S\n]*(?:[.;!]+(?=\s|$)|\n|$)/uy;
const connector = /\s*(?:,\s*(?:(?:and|then|also|please)\s+)*|(?:(?:and|then|also|please)\s+)+)/iuy;

/** Bounds the work for a hostile prompt: the rest of a longer one counts as one sentence that is not understood. */
const maxSentences = 500;

/** A parsed value, and the position at which parsing continues. */
interface Read<Value> {
  value: Value;
  end: number;
}

/** Splits a prompt into sentences. Never throws. */
export function parsePrompt(text: string): Sentence[] {
  const sentences: Sentence[] = [];
  let at = skip(sentenceStart, text, 0);
  while (at < text.length) {
    if (sentences.length === maxSentences) return [...sentences, { text: text.slice(at).trim(), commands: null }];
    const understood = readSentence(text, at);
    const end = understood?.end ?? endOfUnknown(text, at);
    sentences.push({ text: text.slice(at, end).trim(), commands: understood?.value ?? null });
    at = skip(sentenceStart, text, end);
  }
  return sentences;
}

function readSentence(text: string, start: number): Read<Command[]> | null {
  const commands: Command[] = [];
  let at = start;
  for (;;) {
    const command = readCommand(text, at);
    if (command === null) return null;
    commands.push(command.value);
    const end = skip(sentenceEnd, text, command.end);
    if (end > command.end || end === text.length) return { value: commands, end };
    at = skip(connector, text, command.end);
    if (at === command.end) return null;
  }
}

function readCommand(text: string, start: number): Read<Command> | null {
  for (const { pattern, kind, fields } of grammar) {
    pattern.lastIndex = start;
    const values = pattern.exec(text)?.slice(1).map(unquote);
    if (values === undefined) continue;
    const command: Command = { kind, ...Object.fromEntries(fields.map((field, at) => [field, values[at]])) };
    const { old = ' ', path = '/', command: program = '/' } = command;
    // there is nothing to search for, to change or to run
    if (old !== '' && path.trim() !== '' && program.trim() !== '') return { value: command, end: pattern.lastIndex };
  }
  return null;
}

/** Returns the command as a person would write it, truncated to one short line. */
export function describe(command: Command): string {
  const form = grammar.find(({ kind }) => kind === command.kind);
  const open = form?.fields.values();
  // the text of a new file is omitted
  const words = command.kind === 'create' ? ['Create', 'PATH'] : (form?.words ?? []);
  const shown = words.map((expected) => {
    if (!expected.startsWith('"') && expected !== 'PATH') return expected;
    const value = command[open?.next().value ?? 'path'] ?? '';
    return expected === 'PATH' ? value : quote(cut(value, 40));
  });
  return shown.join(' ');
}

/** Returns the end of a sentence that is not understood: a period, a semicolon or a line break outside of quotes. */
function endOfUnknown(text: string, start: number): number {
  const newline = text.indexOf('\n', start);
  const line = newline === -1 ? text : text.slice(0, newline);
  const openings = new Set(['"', '“', '`']);
  let at = start;
  while (at < line.length) {
    const character = line.charAt(at);
    if (/[.;!?]/u.test(character) && /^(?:\s|$)/u.test(line.slice(at + 1, at + 2))) return at + 1;
    const end = openings.has(character) ? endOfQuoted(line, at) : null;
    if (end === null) openings.delete(character);
    at = end ?? at + 1;
  }
  return line.length;
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
