import { anchorOf } from './rst-labels.ts';

const heading = /^ {0,3}#{1,6}[ \t]+/;
/** Marks of lists and quotes before the text of a block. */
const marks = /^(?:[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+|[ \t]*>[ \t]?)*[ \t]*(?:\[[ xX]\][ \t]+)?/;
const list = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]/;
const alone = /^[ \t]*(?:\||\([^()\n]{1,200}\)=|\{(?=[.#])|:::|(?:=+|-+)[ \t]*$)/;

/** The description of an image, which is a separate message in catalogs. */
const image = /!\[([^\]\n]{1,500})\]\(/g;

/**
 * Translates the headings, paragraphs, list items, cells and images of Markdown without code, each if it has a translation. A
 * translated heading keeps its id.
 */
export function withTranslations(lines: readonly string[], translate: (text: string) => string | null): string[] {
  const out: string[] = [];
  const altOf = (alt: string) => {
    const shown = translate(alt);
    return shown === null ? null : `![${oneLine(shown)}](`;
  };
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    const [mark] = heading.exec(line) ?? [];
    if (mark !== undefined) {
      const title = line.slice(mark.length).replace(/(?<![ \t])(?:[ \t]+#+)?[ \t]*$/, '');
      const shown = translate(title);
      out.push(shown === null ? line : `${mark}${oneLine(shown)} {#${anchorOf(title) || 'id1'}}`);
      at += 1;
    } else if (line.trim() === '' || alone.test(line)) {
      out.push(line.includes('|') ? cellsOf(line, translate) : line);
      at += 1;
    } else {
      let end = at + 1;
      while (end < lines.length && continues(lines[end] ?? '')) end += 1;
      const [lead = ''] = marks.exec(line) ?? [];
      const rest = lines.slice(at + 1, end).map((each) => each.replace(/^(?:[ \t]*>)*[ \t]*/, ''));
      const shown = translate([line.slice(lead.length), ...rest].join('\n'));
      out.push(
        ...(shown === null
          ? lines.slice(at, end).map((each) => each.replace(image, (whole, alt: string) => altOf(alt) ?? whole))
          : [lead + oneLine(shown)]),
      );
      at = end;
    }
  }
  return out;
}

function continues(line: string): boolean {
  return line.trim() !== '' && !heading.test(line) && !list.test(line) && !alone.test(line);
}

function cellsOf(line: string, translate: (text: string) => string | null): string {
  return line
    .split(/(?<!\\)\|/)
    .map((cell) => {
      const shown = cell.trim() === '' ? null : translate(cell);
      return shown === null ? cell : ` ${oneLine(shown)} `;
    })
    .join('|');
}

function oneLine(text: string): string {
  return text.replaceAll(/(?<!\s)\s*\n\s*/g, ' ');
}
