import { cut, quote, readQuoted, type Read } from './literals.ts';

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

const grammar = Object.entries(forms).map(([sentence, [kind, ...fields]]) => ({
  words: sentence.split(' '),
  kind,
  fields,
}));

const space = /\s*/uy;
const word = /[\p{L}\p{N}_-]+/uy;
const filler = /(?:the|an?(?:\s+new)?)\s+file\s+/iuy;
const barePath = /[^\s"'`“”„‘’«»]+/uy;
const sentenceStart =
  /(?:[\s.;,!]|[-*•]\s|\d{1,3}[.)]\s|(?:and|then|also|next|finally|first|please)(?![\p{L}\p{N}_/.-]))*/iuy;
const sentenceEnd = /[^\S\n]*(?:[.;!]+(?=\s|$)|\n|$)/uy;
const connector = /\s*(?:,\s*(?:(?:and|then|also|please)\s+)*|(?:(?:and|then|also|please)\s+)+)/iuy;

/** Bounds the work for a hostile prompt: the rest of a longer one counts as one sentence that is not understood. */
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
  for (const form of grammar) {
    const read = readForm(form, text, start);
    // there is nothing to search for, and nothing to run
    if (read !== null && read.value.old !== '' && read.value.command?.trim() !== '') return read;
  }
  return null;
}

function readForm(
  { words, kind, fields }: (typeof grammar)[number],
  text: string,
  start: number,
): Read<Command> | null {
  const command: Command = { kind };
  const open = fields.values();
  let at = start;
  for (const expected of words) {
    at = skip(space, text, at);
    const isText = expected.startsWith('"');
    if (!isText && expected !== 'PATH') {
      const end = skip(word, text, at);
      if (text.slice(at, end).toLowerCase() !== expected.toLowerCase()) return null;
      at = end;
      continue;
    }
    const read = isText ? readQuoted(text, at) : readPath(text, at);
    const field = open.next().value;
    if (read === null || field === undefined) return null;
    command[field] = read.value;
    at = read.end;
  }
  return { value: command, end: at };
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

/** Reads a path: a quoted one, or up to the next space without the punctuation that ends a sentence. */
function readPath(text: string, start: number): Read<string> | null {
  const at = skip(filler, text, start);
  const quoted = readQuoted(text, at);
  if (quoted !== null) return quoted.value.trim() === '' ? null : quoted;
  const bare = text.slice(at, skip(barePath, text, at)).replace(/[.,;:!?)]+$/u, '');
  return bare === '' ? null : { value: bare, end: at + bare.length };
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
