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

const placeholder = /"\w+"|PATH/gu;

const grammar = Object.entries(forms).map(([sentence, [kind, ...fields]]) => {
  const patterns = sentence.split(' ').map((word) => {
    if (word.startsWith('"')) return `(${quotedPattern})`;
    return word === 'PATH' ? pathPattern : `${word}(?![\\p{L}\\p{N}_-])`;
  });
  return { sentence, kind, fields, pattern: new RegExp(patterns.join('\\s*'), 'iuy') };
});

const sentenceStart =
  /(?:[\s.;,!]|[-*•]\s|\d{1,3}[.)]\s|(?:and|then|also|next|finally|first|please)(?![\p{L}\p{N}_/.-]))*/iuy;
const sentenceEnd = /[^\S\n]*(?:[.;!]+(?=\s|$)|\n|$)/uy;
const connector = /\s*(?:,\s*(?:(?:and|then|also|please)\s+)*|(?:(?:and|then|also|please)\s+)+)/iuy;

/** Bounds the work for a hostile prompt: the rest of a longer one counts as one sentence that is not understood. */
const maxSentences = 500;

/** Splits a prompt into sentences. Never throws. */
export function parsePrompt(text: string): Sentence[] {
  const sentences: Sentence[] = [];
  let start = skip(sentenceStart, text, 0);
  while (start < text.length) {
    if (sentences.length === maxSentences) return [...sentences, { text: text.slice(start).trim(), commands: null }];
    const { commands, end } = readSentence(text, start) ?? { commands: null, end: endOfUnknown(text, start) };
    sentences.push({ text: text.slice(start, end).trim(), commands });
    start = skip(sentenceStart, text, end);
  }
  return sentences;
}

function readSentence(text: string, start: number): { commands: Command[]; end: number } | null {
  const commands: Command[] = [];
  for (let at = start; ;) {
    const read = readCommand(text, at);
    if (read === null) return null;
    commands.push(read.command);
    const end = skip(sentenceEnd, text, read.end);
    if (end > read.end || end === text.length) return { commands, end };
    at = skip(connector, text, read.end);
    if (at === read.end) return null;
  }
}

function readCommand(text: string, start: number): { command: Command; end: number } | null {
  for (const { pattern, kind, fields } of grammar) {
    pattern.lastIndex = start;
    const values = pattern.exec(text)?.slice(1).map(unquote);
    if (values === undefined) continue;
    const command: Command = { kind, ...Object.fromEntries(fields.map((field, at) => [field, values[at]])) };
    const { old = ' ', path = '/', command: program = '/' } = command;
    // there is nothing to search for, to change or to run
    if (old !== '' && path.trim() !== '' && program.trim() !== '') return { command, end: pattern.lastIndex };
  }
  return null;
}

/** Returns the command as a person would write it, truncated to one short line. */
export function describe(command: Command): string {
  const form = grammar.find(({ kind }) => kind === command.kind);
  const fields = form?.fields.values();
  // the text of a new file is omitted
  const sentence = command.kind === 'create' ? 'Create PATH' : (form?.sentence ?? '');
  return sentence.replace(placeholder, (name) => {
    const value = command[fields?.next().value ?? 'path'] ?? '';
    return name === 'PATH' ? value : quote(cut(value, 40));
  });
}

/** Returns the end of a sentence that is not understood: a period, a semicolon or a line break outside of quotes. */
function endOfUnknown(text: string, start: number): number {
  const line = text.slice(0, skip(/.*/uy, text, start));
  let at = start;
  while (at < line.length && !/^[.;!?](?:\s|$)/u.test(line.slice(at, at + 2)))
    at = '"“`'.includes(line.charAt(at)) ? (endOfQuoted(line, at) ?? line.length) : at + 1;
  return Math.min(at + 1, line.length);
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
