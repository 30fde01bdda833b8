import { parse } from 'yaml';

export interface FrontMatter {
  values: Record<string, unknown>;
  /** The text after the front matter; the whole text when there is none or it is malformed. */
  body: string;
}

const longest = 64 * 1024;

/**
 * Parses the YAML block at the top of a Markdown file. Never throws: a malformed block stays part of the text, and keeps
 * the page from everybody if it names groups.
 */
export function readFrontMatter(source: string): FrontMatter {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  const head = /^---[ \t]*\r?\n/.exec(text);
  if (head === null) return { values: {}, body: text };
  const block = text.slice(head[0].length, head[0].length + longest);
  const end = /^---[ \t]*(?:\r?\n|$)/m.exec(block);
  if (end === null) return malformed(text, block.split(/^[ \t]*\r?$/m, 1)[0] ?? '');
  const values = parseYaml(block.slice(0, end.index));
  if (values === null) return { values: {}, body: text.slice(head[0].length + end.index + end[0].length) };
  if (!isRecord(values)) return malformed(text, block.slice(0, end.index));
  return { values, body: text.slice(head[0].length + end.index + end[0].length) };
}

function malformed(text: string, block: string): FrontMatter {
  return { values: /^[ \t]*["']?groups["']?[ \t]*:/m.test(block) ? { groups: {} } : {}, body: text };
}

/** Returns the value of a YAML or JSON text; undefined when it is malformed. */
export function parseYaml(text: string): unknown {
  try {
    return parse(text, { logLevel: 'error', maxAliasCount: 50, uniqueKeys: false });
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
