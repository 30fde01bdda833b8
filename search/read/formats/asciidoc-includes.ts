import { formatOf } from './format-of.ts';
import type { IncludeSyntax } from './includes.ts';
import { dedented, inRanges } from './selection.ts';

const tagLine = /(?:^|[^\w])(tag|end)::([\w.-]{1,100})\[\]/;
const attribute = /(?:^|,)\s*([\w-]{1,30})\s*=\s*(?:"([^"]*)"|([^,"]*))/g;

/** `include::target[attributes]`, with `tags`, `lines`, `indent` and `leveloffset`. */
export function asciidocIncludes(resolve: IncludeSyntax['resolve']): IncludeSyntax {
  return {
    pattern: /^include::(?<target>[^[\]\n]{1,500})\[(?<attributes>[^\]\n]{0,500})\][ \t]*$/gm,
    resolve,
    isCode: ({ groups = {} }) => formatOf(groups.target?.replace(/#.*/, '') ?? '') !== 'asciidoc',
    adapt(text, { groups = {} }) {
      const { attributes: written = '' } = groups;
      const given = new Map([...written.matchAll(attribute)].map(([, key = '', a, b]) => [key, (a ?? b ?? '').trim()]));
      const ranges = given.get('lines');
      const tags = given.get('tags') ?? given.get('tag');
      const all = text.replace(/\r?\n$/, '').split(/\r?\n/);
      const lines = ranges === undefined ? withTags(all, tags) : inRanges(all, ranges);
      const shown = (given.get('indent') === '0' ? dedented(lines) : lines).join('\n');
      const offset = given.get('leveloffset');
      const [, sign = '', level = ''] = /^([+-])(\d)$/.exec(offset ?? '') ?? [];
      if (level === '') return shown;
      return `:leveloffset: ${sign}${level}\n\n${shown}\n\n:leveloffset: ${sign === '+' ? '-' : '+'}${level}`;
    },
  };
}

/** Fills in the attributes that the targets of a page's includes name. */
export function withNamedTargets(text: string, attributes: Record<string, string> = {}): string {
  if (!/^include::[^[\r\n\u2028\u2029]*\{/m.test(text)) return text;
  const stated = [...text.matchAll(/^:([\w-]{1,60}):[ \t]+(\S.{0,500}?)[ \t]*$/gm)].slice(0, 500);
  const values = new Map(Object.entries(attributes));
  const filled = (value: string) =>
    value.replaceAll(/\{([\w-]{1,60})\}/g, (whole, name: string) => values.get(name) ?? whole);
  for (const [, name = '', value = ''] of stated) values.set(name, filled(value));
  return text.replaceAll(/^include::[^[\n]{1,500}(?=\[)/gm, filled);
}

/**
 * Selects the lines of tagged regions, such as `a;b`, `*`, `**` or `!c`; all lines without tags. The tag lines
 * themselves are removed.
 */
function withTags(lines: string[], tags: string | undefined): string[] {
  const names = (tags ?? '**').split(/[,;]/).map((name) => name.trim());
  const chosen = new Map(names.map((name) => [name.replace(/^!/, ''), !name.startsWith('!')]));
  const base = chosen.get('**') ?? !names.some((name) => !name.startsWith('!'));
  const open: string[] = [];
  return lines.filter((line) => {
    const [, mark, name = ''] = tagLine.exec(line) ?? [];
    if (mark === 'tag') open.push(name);
    else if (mark === 'end' && open.includes(name)) open.splice(open.lastIndexOf(name), 1);
    if (mark !== undefined) return false;
    const decided = open.findLast((one) => chosen.has(one));
    if (decided !== undefined) return chosen.get(decided) === true;
    return open.length > 0 ? (chosen.get('*') ?? base) : base;
  });
}
