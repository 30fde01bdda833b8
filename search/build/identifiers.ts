import { termOf } from './words.ts';

const candidate = /(?<![\p{L}\p{N}_$-])-{1,2}[A-Za-z][\w-]*|[\p{L}\p{N}_$]+(?:[.-][\p{L}\p{N}_$]+)*/gu;
const humps = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lo}+|\p{N}+/gu;

export interface Identifier {
  text: string;
  /** The identifier as one term. */
  whole: string;
  /** Terms of its parts; empty when it has only one. */
  parts: string[];
  /** `-x` or `--long-option`, as written but in lower case; null for other identifiers. */
  flag: string | null;
}

/**
 * Reports whether a text is written like a name in a program: `createOrganization`, `x_y`, `--flag`, `a.b.c`,
 * `HTTPServer2`.
 */
export function isIdentifier(text: string): boolean {
  return /^-|[_$]|\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}|\p{L}\p{N}|\p{N}\p{L}|[\p{L}\p{N}][.-][\p{L}\p{N}]/u.test(text);
}

/** Returns everything in a text that could be an identifier, in order; in prose only what is written like one. */
export function findIdentifiers(text: string, { inCode }: { inCode: boolean }): Identifier[] {
  const found: Identifier[] = [];
  for (const match of text.matchAll(candidate)) {
    const raw = match[0].slice(0, 200);
    if (!inCode && !isIdentifier(raw)) continue;
    found.push(identifierOf(raw));
    const segments = raw.split('.').filter((segment) => segment !== '');
    if (segments.length > 1)
      for (const segment of segments) if (isIdentifier(segment)) found.push(identifierOf(segment));
  }
  return found;
}

function identifierOf(text: string): Identifier {
  const parts = text.match(humps) ?? [];
  const isNumber = /^[\d.]+$/.test(text);
  return {
    text,
    whole: isNumber ? text : termOf(text.replace(/[._$-]/g, '')),
    parts: parts.length > 1 && !isNumber ? parts.map((part) => termOf(part)).filter((part) => part !== '') : [],
    flag: text.startsWith('-') ? text.toLowerCase().slice(0, 48) : null,
  };
}

/** Returns the terms of an identifier for the index: whole, parts and flag. */
export function termsOfIdentifier({ whole, parts, flag }: Identifier): string[] {
  return [whole, ...parts, flag ?? ''].filter((term) => term !== '');
}
