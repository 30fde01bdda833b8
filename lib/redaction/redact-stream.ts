import { compact, formsOf } from './known-forms.ts';
import type { MaskedSecrets } from './known-secrets.ts';
import { mark } from './mark.ts';

/** Secrets, and the function that removes them. */
export type StreamRedactorDeps = Pick<MaskedSecrets, 'redact' | 'values'>;

/** A prefix of a secret this short reveals nothing. The rest is still redacted. */
const harmlessLength = 3;
/** Length of shown text that is kept as context: enough for the prefix of a shape, and shorter than any whole one. */
const contextLength = 12;

/** Matches the beginning of anything shaped like a credential. */
const shapeStart =
  /svc_|gh[pousr]_|github_pat_|gl[a-z]{2,5}-|whsec_|sk[-_]|AIza|AKIA|ASIA|xox[abeprs]-|eyJ|https?:\/\//i;
/** Matches a run of characters that is encoded or random rather than a word. */
const noWord = /[\d+=_]|[a-z][A-Z]/;
const runLength = 12;
/** Maximum length of a fixed-length token including its line breaks. */
const splitTokenLength = 300;

export type StreamRedactor = ReturnType<typeof createStreamRedactor>;

/**
 * Scrubs a text that arrives in chunks as if it had arrived at once. Anything that may be the beginning of a secret is
 * held back until enough of it has arrived to decide.
 */
export function createStreamRedactor({ redact, values }: StreamRedactorDeps) {
  const startOfSecret = createSecretSearch(values);
  let held = '';
  let context = '';

  function show(text: string): string {
    if (text === '') return '';
    const scrubbed = redact(context + text);
    const shown = scrubbed.slice(commonPrefixLength(scrubbed, context));
    const sinceMark = (context + shown).split(mark).at(-1) ?? '';
    context = sinceMark.slice(-contextLength);
    return shown;
  }

  return {
    /** Accepts the next chunk and returns the scrubbed text that is now safe to show. */
    push(text: string): string {
      held += text;
      const seen = context + held;
      const openAt = [startOfSecret(seen), startOfToken(seen), startOfSplitToken(seen), startOfPrivateKey(seen)];
      const cut = Math.max(0, Math.min(...openAt) - context.length);
      const shown = show(held.slice(0, cut));
      held = held.slice(cut);
      return shown;
    },
    /** Returns the text that was held back, once the stream has ended. */
    end(): string {
      const shown = show(held);
      held = '';
      return shown;
    },
  };
}

/**
 * Returns where the last token begins if it may continue as a credential. Runs in linear time: the text may be long and
 * hostile.
 */
function startOfToken(text: string): number {
  let start = text.length;
  while (start > 0 && !/\s/.test(text.charAt(start - 1))) start -= 1;
  const scheme = /\b(?:Bearer|Basic)\s+$/i.exec(text.slice(Math.max(0, start - 32), start));
  if (scheme !== null) return start - scheme[0].length;
  const token = text.slice(start);
  const shape = token.search(shapeStart);
  if (shape !== -1) return start + shape;
  return token.length >= runLength && noWord.test(token) ? start : text.length;
}

function startOfPrivateKey(text: string): number {
  let start = text.indexOf('-----BEGIN');
  while (start !== -1) {
    const end = /-----END[^-]*-----/.exec(text.slice(start));
    if (end === null) return start;
    start = text.indexOf('-----BEGIN', start + end.index + end[0].length);
  }
  return text.length;
}

/** Returns where a token of a fixed length may continue after a line break. */
function startOfSplitToken(text: string): number {
  const end = text.slice(-splitTokenLength);
  const start = end.search(
    /(?:svc_(?:dsc_)?|gh[pousr]_|github_pat_|glpat-|AKIA)(?:[0-9A-Za-z_-]|[ \t]?\r?\n[ \t\r\n]*(?![ \t\r\n])|\\[nr])*$/,
  );
  return start === -1 ? text.length : text.length - end.length + start;
}

/**
 * Returns where the end of a text may begin one of the secrets, including with blanks or line breaks between its
 * characters.
 */
function createSecretSearch(secrets: readonly string[]): (text: string) => number {
  // the beginning of a private key is found by its shape
  const forms = secrets.filter((secret) => !secret.startsWith('-----BEGIN')).flatMap(formsOf);
  const begins = Map.groupBy(
    forms.map(({ text }) => text),
    (text) => text.charAt(0),
  );
  const longest = Math.max(0, ...forms.map(({ text }) => text.length)) * 2;
  return (text) => {
    for (let at = Math.max(0, text.length - longest); at < text.length; at += 1) {
      const candidates = begins.get(text.charAt(at));
      if (candidates === undefined) continue;
      const rest = compact(text.slice(at));
      if (rest.length > harmlessLength && candidates.some((form) => form.startsWith(rest))) return at;
    }
    return text.length;
  };
}

function commonPrefixLength(left: string, right: string): number {
  let length = 0;
  while (length < right.length && left[length] === right[length]) length += 1;
  return length;
}
