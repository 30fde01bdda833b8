/** A section or page that a reference names. */
export interface Referred {
  /** Null for text that is no section. */
  title: string | null;
  /** Address as a link on the page has it. */
  link: string;
}

/** Finds what the references of a page name. */
export interface References {
  section(label: string): Referred | null;
  document(name: string): Referred | null;
}

export interface RstLabels {
  /** Title of the page: its first one. */
  title: string | null;
  /** Anchors of all sections, by their titles. */
  anchors: Map<string, string>;
  /** Sections by the labels that stand before them, with the anchors that these give them. Other text has no title. */
  sections: Map<string, { title: string | null; anchor: string }>;
}

const letters: Record<string, string> = {
  ß: 'sz',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ŧ: 't',
};
/** Longest page that is read, in characters. */
const maxLength = 2_000_000;
export const underline = /^([!-/:-@[-`{-~])\1+\s*$/;
const label = /^\.\.\s+_`?((?:[^`:\\]|\\:)+)`?:\s*$/;

/** Returns the lines of a page without white space at their ends. */
export function rstLines(source: string): string[] {
  return source
    .slice(0, maxLength)
    .replaceAll('\t', '        ')
    .split(/\r?\n/)
    .map((line) => line.trimEnd());
}

/** Shows the translated titles of sections and pages. */
export function withTitles({ section, document }: References, translate: (text: string) => string | null): References {
  const shown = (found: Referred | null) =>
    found?.title == null ? found : { ...found, title: translate(found.title) ?? found.title };
  return { section: (label) => shown(section(label)), document: (name) => shown(document(name)) };
}

/** Finds the titles of a reStructuredText page that references may show, in its lines without white space at their ends. */
export function labelsIn(lines: readonly string[]): RstLabels {
  const labels: RstLabels = { title: null, anchors: new Map(), sections: new Map() };
  let open: string[] = [];
  for (const [at, line] of lines.entries()) {
    const name = line.startsWith('.. _') ? labelOf(line, lines[at + 1]) : (/^ +:name: +(.+)$/s.exec(line)?.[1] ?? null);
    if (name !== null) open.push(name);
    if (name !== null || line === '') continue;
    const title = titleAt(lines, at);
    labels.title ??= title;
    if (title !== null) labels.anchors.set(title, anchorOf(open.at(-1) ?? title));
    for (const each of open) labels.sections.set(normalizedLabel(each), { title, anchor: anchorOf(each) });
    open = [];
  }
  return labels;
}

/** Returns the name of a target without an address, which may stand on the next line; null for other lines. */
export function labelOf(line: string, next = ''): string | null {
  return /^ +(?:https?:\S+|\S+_$)/.test(next) ? null : (label.exec(line)?.[1]?.replaceAll('\\', '') ?? null);
}

/** Normalizes a label: case and white space do not matter. */
export function normalizedLabel(name: string): string {
  return name.trim().replaceAll(/\s+/g, ' ').toLowerCase();
}

/** Returns the id that docutils makes of a name; empty for none. */
export function anchorOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[ßæœøđħıłŧ]/g, (letter) => letters[letter] ?? '')
    .normalize('NFKD')
    .replaceAll(/(?=\P{ASCII})\S/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^[-0-9]+|-$/g, '');
}

/** Creates the ids of a page: repeated names, and names without Latin letters, get numbers. */
export function createIds() {
  const taken = new Set<string>();
  let count = 0;
  return {
    take(name: string): string {
      let id = anchorOf(name);
      while (id === '' || taken.has(id)) id = `id${++count}`;
      taken.add(id);
      return id;
    },
  };
}

/** Returns an anchor for something other than a heading. */
export function anchorTag(id: string): string {
  return `<a id="${id}"></a>`;
}

/** Returns the title that starts at a line, with a line above it or only below. */
export function titleAt(lines: readonly string[], at: number): string | null {
  const [line = '', next = '', third = ''] = lines.slice(at, at + 3);
  if (underline.test(line)) return next !== '' && !underline.test(next) && underline.test(third) ? next.trim() : null;
  return underline.test(next) && next.length >= Math.min(line.length, 3) && !line.startsWith(' ') ? line : null;
}
