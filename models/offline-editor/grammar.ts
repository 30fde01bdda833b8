import { readQuoted, type Read } from './literals.ts';

/** One edit the offline editor understands. */
export type Command =
  | { kind: 'replace'; old: string; new: string; path: string }
  | { kind: 'replace-everywhere'; old: string; new: string }
  | { kind: 'create'; path: string; text: string }
  | { kind: 'append'; path: string; text: string }
  | { kind: 'delete'; path: string }
  | { kind: 'rename'; from: string; to: string }
  | { kind: 'run'; command: string };

/** A sentence of a prompt: its commands in order, or null when any part of it is not understood. */
export interface Sentence {
  text: string;
  commands: Command[] | null;
}

/** What the editor tells a person it can do. */
export const grammarHelp = [
  'Replace "a" with "b" in PATH',
  'Replace "a" with "b" everywhere',
  'Create PATH with "text"',
  'Append "text" to PATH',
  'Delete PATH',
  'Rename PATH to PATH',
  'Run "command"',
];

type Slot = 'text' | 'path';

interface Form {
  /** Words stand for themselves, slots for what a person fills in. */
  pattern: (Slot | `=${string}`)[];
  build(values: string[]): Command | null;
}

const forms: Form[] = [
  {
    pattern: ['=replace', 'text', '=with', 'text', '=everywhere'],
    build: ([old = '', next = '']) => (old === '' ? null : { kind: 'replace-everywhere', old, new: next }),
  },
  {
    pattern: ['=replace', 'text', '=with', 'text', '=in', 'path'],
    build: ([old = '', next = '', path = '']) => (old === '' ? null : { kind: 'replace', old, new: next, path }),
  },
  {
    pattern: ['=create', 'path', '=with', 'text'],
    build: ([path = '', text = '']) => ({ kind: 'create', path, text }),
  },
  { pattern: ['=append', 'text', '=to', 'path'], build: ([text = '', path = '']) => ({ kind: 'append', path, text }) },
  { pattern: ['=delete', 'path'], build: ([path = '']) => ({ kind: 'delete', path }) },
  {
    pattern: ['=run', 'text'],
    build: ([command = '']) => (command.trim() === '' ? null : { kind: 'run', command }),
  },
  { pattern: ['=rename', 'path', '=to', 'path'], build: ([from = '', to = '']) => ({ kind: 'rename', from, to }) },
];

const space = /\s*/uy;
const word = /[\p{L}\p{N}_-]+/uy;
const filler = /(?:the|an?(?:\s+new)?)\s+file\s+/iuy;
const barePath = /[^\s"'`“”„‘’«»]+/uy;
const sentenceStart =
  /(?:[\s.;,!]|[-*•]\s|\d{1,3}[.)]\s|(?:and|then|also|next|finally|first|please)(?![\p{L}\p{N}_/.-]))*/iuy;
const sentenceEnd = /[^\S\n]*(?:[.;!]+(?=\s|$)|\n|$)/uy;
const connector = /\s*(?:,\s*(?:(?:and|then|also|please)\s+)*|(?:(?:and|then|also|please)\s+)+)/iuy;

/** The rest of a longer prompt counts as one sentence that is not understood; it bounds the work of a hostile prompt. */
const maxSentences = 500;

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
  for (const form of forms) {
    const values = readPattern(form.pattern, text, start);
    const command = values === null ? null : form.build(values.value);
    if (values !== null && command !== null) return { value: command, end: values.end };
  }
  return null;
}

function readPattern(pattern: Form['pattern'], text: string, start: number): Read<string[]> | null {
  const values: string[] = [];
  let at = start;
  for (const element of pattern) {
    at = skip(space, text, at);
    if (element === 'text' || element === 'path') {
      const read = element === 'text' ? readQuoted(text, at) : readPath(text, at);
      if (read === null) return null;
      values.push(read.value);
      at = read.end;
      continue;
    }
    const end = skip(word, text, at);
    if (text.slice(at, end).toLowerCase() !== element.slice(1)) return null;
    at = end;
  }
  return { value: values, end: at };
}

/** A path is quoted, or reaches to the next space; the punctuation that ends a sentence is not part of it. */
function readPath(text: string, start: number): Read<string> | null {
  const at = skip(filler, text, start);
  const quoted = readQuoted(text, at);
  if (quoted !== null) return quoted.value.trim() === '' ? null : quoted;
  const bare = text.slice(at, skip(barePath, text, at)).replace(/[.,;:!?)]+$/u, '');
  return bare === '' ? null : { value: bare, end: at + bare.length };
}

/** Where a sentence ends that is not understood: a full stop, a semicolon or a line's end outside of quotes. */
function endOfUnknown(text: string, start: number): number {
  const newline = text.indexOf('\n', start);
  const line = newline === -1 ? text : text.slice(0, newline);
  const openings = new Set(['"', '“', '`']);
  let at = start;
  while (at < line.length) {
    const character = line.charAt(at);
    if (/[.;!?]/u.test(character) && /^(?:\s|$)/u.test(line.slice(at + 1, at + 2))) return at + 1;
    const quoted = openings.has(character) ? readQuoted(line, at) : null;
    if (quoted === null) openings.delete(character);
    at = quoted?.end ?? at + 1;
  }
  return line.length;
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
