import { inlineTarget, namedLink, type InlineContext } from './rst-inline.ts';
import { anchorOf, labelOf, labelsIn, normalizedLabel, type References, type RstLabels } from './rst-labels.ts';

export const anonymous = /^(?:__|\.\. __:) +(\S.*)$/;
export const directive = /^\.\.\s+(?:\|([^|]+)\|\s+)?([\w+.:-]{1,60})::(?:\s+(.*))?$/;

/** Sections of the page itself come before those of other pages. */
function referencesOf({ sections }: RstLabels, others: References): References {
  return {
    section(label) {
      const section = sections.get(normalizedLabel(label));
      return section === undefined ? others.section(label) : { title: section.title, link: `#${section.anchor}` };
    },
    document: (name) => others.document(name),
  };
}

/** Collects what the text of a page may name; `known` are the substitutions and `others` the references of all pages. */
export function namesIn(lines: string[], known: ReadonlyMap<string, string>, others: References): InlineContext {
  const substitutions = new Map(known);
  const labels = labelsIn(lines);
  const targets = new Map([...labels.anchors].map(([title, anchor]) => [normalizedLabel(title), `#${anchor}`]));
  const unnamed: string[] = [];
  let open: string[] = [];
  for (const [at, line] of lines.entries()) {
    // a long address stands on the next line
    const below = /^\s+(?:https?:\S+|`?[^`\s][^`]*`?_)$/.test(lines[at + 1] ?? '') ? ` ${lines[at + 1]?.trim()}` : '';
    const [, name, address = ''] = /^\s*\.\.\s+_`?([^`:]+)`?:\s+(\S+|`[^`]+`_)$/.exec(line + below) ?? [];
    if (name !== undefined) for (const each of [...open, name]) targets.set(normalizedLabel(each), address);
    const label = labelOf(line.trim(), lines[at + 1]);
    if (label !== null) targets.set(normalizedLabel(label), `#${anchorOf(label)}`);
    open = label !== null ? [...open, label] : line === '' ? open : [];
    const next = anonymous.exec(line + below)?.[1];
    if (next !== undefined) unnamed.push(next);
    const found = directive.exec(line);
    if (found?.[1] !== undefined && found[2] === 'replace') substitutions.set(found[1], (found[3] ?? '').trim());
  }
  for (const [, words = ''] of lines.join('\n').matchAll(inlineTarget))
    targets.set(normalizedLabel(words), `#${anchorOf(words)}`);
  for (const [, words = '', address = ''] of lines.join('\n').matchAll(namedLink))
    if (words !== '' && !targets.has(normalizedLabel(words))) targets.set(normalizedLabel(words), address);
  return { substitutions, targets, anonymous: unnamed, references: referencesOf(labels, others) };
}
