import { parse as parseToml } from 'smol-toml';
import { readYaml } from '../../lib/inputs/yaml.ts';

export interface FrontMatter {
  values: Record<string, unknown>;
  /** The text after the front matter; the whole text when there is none or it is malformed. */
  body: string;
}

const maxLength = 64 * 1024;
/** In the form of AsciiDoc and reStructuredText. */
const headerWithGroups = /^[ \t]*:(?:page-)?groups:/im;

/**
 * Parses the block at the top of a Markdown file: YAML between `---`, or TOML between `+++`. Never throws: a malformed block stays part of the text, and hides the page from everyone if it names groups.
 */
export function readFrontMatter(source: string): FrontMatter {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  const head = /^\s{0,100}(---|\+\+\+)[ \t]*\r?\n/.exec(text);
  if (head === null) return { values: {}, body: text };
  const block = text.slice(head[0].length, head[0].length + maxLength);
  const isToml = head[1] === '+++';
  const end = (isToml ? /^\+\+\+[ \t]*(?:\r?\n|$)/m : /^---[ \t]*(?:\r?\n|$)/m).exec(block);
  if (end === null) return malformed(text, block.split(/^[ \t]*\r?$/m, 1)[0] ?? '');
  const values = (isToml ? tomlOf : parseYaml)(block.slice(0, end.index));
  if (values === null) return { values: {}, body: text.slice(head[0].length + end.index + end[0].length) };
  if (!isRecord(values)) return malformed(text, block.slice(0, end.index));
  return { values: withGroups(values), body: text.slice(head[0].length + end.index + end[0].length) };
}

/** Returns the text of a file for the pages that include it; null if the file is for groups, as its readers may differ. */
export function readIncluded(source: string): string | null {
  return readIncludedPage(source)?.body ?? null;
}

/** The same with the front matter of the file. */
export function readIncludedPage(source: string): FrontMatter | null {
  const page = readFrontMatter(source);
  return groupsOf(page.values) === null && !headerWithGroups.test(page.body) ? page : null;
}

/** Returns the groups whose members may read a page; null for a public page. Malformed groups have no members. */
export function groupsOf({ groups }: Record<string, unknown>): string[] | null {
  const isEmpty =
    groups === undefined || groups === null || groups === '' || (Array.isArray(groups) && groups.length === 0);
  return isEmpty ? null : (listOf(groups) ?? []);
}

/** Lower-cases the key `groups`: a page must not become public because of its spelling. */
function withGroups(values: Record<string, unknown>): Record<string, unknown> {
  const key = Object.keys(values).find(isGroups);
  return key === undefined ? values : { ...values, groups: values[key] };
}

function isGroups(key: unknown): boolean {
  return typeof key === 'string' && key.trim().toLowerCase() === 'groups';
}

function malformed(text: string, block: string): FrontMatter {
  return { values: /^[ \t]*["']?groups["']?[ \t]*[:=]/im.test(block) ? { groups: {} } : {}, body: text };
}

/** Returns the value of a TOML text; undefined when it is malformed, or when `groups` is ambiguous. */
export function tomlOf(text: string): unknown {
  try {
    const values = parseToml(text);
    return Object.keys(values).filter(isGroups).length > 1 ? undefined : values;
  } catch {
    return undefined;
  }
}

/** Returns the value of a YAML or JSON text; undefined when it is malformed, or when `groups` is ambiguous. */
export function parseYaml(text: string): unknown {
  try {
    return readYaml(text, { maxAliases: 50, merge: true, onceOf: (key) => (isGroups(key) ? 'groups' : undefined) });
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a text value; numbers (a version written `2.0` or `2`) become text. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  return value.trim().slice(0, 2000);
}

/** Returns a list of texts; a single text, also with commas, counts as a list. */
export function listOf(value: unknown): string[] | undefined {
  const items = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [];
  const texts = items.map((item) => textOf(item)).filter((item) => item !== undefined);
  return texts.length > 0 ? [...new Set(texts)].slice(0, 100) : undefined;
}
