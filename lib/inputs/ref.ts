export type ParsedRef = { ok: true; ref: string } | { ok: false; problem: string };

const maxRefLength = 255;
// what git-check-ref-format forbids, and every kind of whitespace and invisible character
const forbiddenCharacters = /[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}~^:?*[\]\\]/u;

/**
 * Parses the name of a branch, tag or commit by the rules of git-check-ref-format, and rejects names that git could
 * take for an option.
 */
export function parseRef(text: string): ParsedRef {
  const problem = problemOf(text);
  return problem === null ? { ok: true, ref: text } : { ok: false, problem: `The ref ${problem}.` };
}

function problemOf(text: string): string | null {
  if (text.trim() === '') return 'is empty; omit it to use the default branch';
  if (text.length > maxRefLength) return `is longer than ${maxRefLength} characters`;
  if (!text.isWellFormed()) return 'contains invalid Unicode';
  if (forbiddenCharacters.test(text)) return 'contains a space, a control character or one of ~ ^ : ? * [ ] \\';
  if (text.startsWith('-')) return 'begins with "-"';
  if (text.includes('..')) return 'contains ".."';
  if (text === '@' || text.includes('@{')) return 'is "@" or contains "@{"';
  if (text.endsWith('.')) return 'ends with "."';
  const components = text.split('/');
  if (components.includes('')) return 'begins or ends with "/", or contains "//"';
  if (components.some((component) => component.startsWith('.'))) return 'has a part that begins with "."';
  if (components.some((component) => component.toLowerCase().endsWith('.lock')))
    return 'has a part that ends with ".lock"';
  return null;
}
