import { posix } from 'node:path';
import { slugOf } from '../anchors.ts';
import { explicitId, headingText } from '../markdown-lines.ts';
import { formatOf } from './format-of.ts';
import { readRst, type RstSettings } from './rst.ts';
import { admonitionLabel, kindOfDirective } from './rst-directives.ts';
import { objectOf } from './rst-objects.ts';
import { nothing, wordsOfRole } from './rst-inline.ts';
import {
  anchorOf,
  anchorTag,
  createIds,
  normalizedLabel,
  withTitles,
  type Referred,
  type RstLabels,
} from './rst-labels.ts';
import { withTranslations } from './myst-translations.ts';
import { codeBlock, dedented, indentedLike, widthOf } from './selection.ts';

const maxDepth = 10;
const fence =
  /^((?:[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*[ \t]*)(`{3,}|~{3,}|:{3,})(?:\{([\w+.:-]{1,60})\})?[ \t]*(.*)$/s;
const option = /^[ \t]*:([\w-]+):(?:[ \t]+(.*))?$/s;
const label = /^[ \t]*\(([^()\n]{1,200})\)=[ \t]*$/;
const attributes = /^[ \t]*\{(?=[.#])([^{}\n]{1,200})\}[ \t]*$/;
const heading = /^ {0,3}#{1,6}[ \t]/;
/** A code span, role or link. */
const span =
  /(?<!`)(?<ticks>`+)(?!`)[^]{1,1000}?(?<!`)\k<ticks>(?!`)|\{(?<role>[\w+.:-]{1,60})\}`(?<content>[^`]{1,1000})`|(?<!!)\[(?<words>[^[\]\n]{0,300})\]\((?:<(?<spaced>[^<>\n]{1,500})>|(?<target>[^()\s]{1,500}))\)|<(?<auto>(?:project|inv|path|doc):[^<>\s]{1,500})>/g;

/** Converts the directives, roles, targets and references of MyST to Markdown. */
export function mystToMarkdown(
  source: string,
  { substitutions, references: others = nothing, translate = () => null }: RstSettings,
): string {
  const references = withTitles(others, translate);
  const translated = (text: string) => translate(text) ?? text;
  const lines = source.split(/\r?\n/);
  const ids = createIds();
  const own = new Map(
    [...mystLabelsIn(source).anchors].map(([title, anchor]) => [
      slugOf(headingText(`# ${title}`)),
      { title: translated(title), link: `#${anchor}` },
    ]),
  );
  return blocks(lines, 0).join('\n');

  function blocks(given: string[], depth: number): string[] {
    const out: string[] = [];
    let prose: string[] = [];
    const flush = () => {
      if (prose.length > 0) out.push(proseOf(withTranslations(prose, translate).join('\n')));
      prose = [];
    };
    for (let at = 0; at < given.length; at += 1) {
      const line = given[at] ?? '';
      const [, lead = '', mark = '', name, argument = ''] = fence.exec(line.slice(0, 500)) ?? [];
      const opensNothing = mark === '' || (mark.startsWith('`') && argument.includes('`'));
      if (opensNothing || (name === undefined && mark.startsWith(':'))) {
        prose.push(line);
        continue;
      }
      flush();
      const end = closeOf(given, at, mark);
      if (name === undefined || depth >= maxDepth || lead.trim() !== '') out.push(...given.slice(at, end + 1));
      else {
        const body = given.slice(at + 1, end);
        const shown = directive(name.toLowerCase(), argument.trim(), { body: dedented(body), depth });
        out.push(indentedLike(shown.join('\n'), ' '.repeat(widthOf(line))));
      }
      at = end;
    }
    flush();
    return out;
  }

  function directive(name: string, argument: string, { body, depth }: { body: string[]; depth: number }): string[] {
    const kind = kindOfDirective(name);
    if (kind === 'unshown') return [];
    const { options, text } = optionsOf(body);
    if (name === 'eval-rst') return ['', readRst(text.join('\n'), { substitutions, references, translate }).body, ''];
    const anchor = anchorOf(options.get('name') ?? '');
    const target = anchor === '' ? [] : [anchorTag(anchor), ''];
    if (kind === 'code') return [...target, codeBlock(text, argument || (name === 'math' ? 'math' : ''))];
    const inner = ['', ...blocks(text, depth + 1), ''];
    if (kind === 'container') return [...target, ...inner];
    if (kind === 'image') return [...target, translated(options.get('alt') ?? ''), ...inner];
    if (kind === 'object') {
      const scope = { module: options.get('module') ?? '', around: '', program: '' };
      const anchors = objectOf(name, argument, scope).ids.map(anchorTag).join('');
      return [...target, `${anchors}\`${argument.replaceAll('`', '')}\``, ...inner];
    }
    if (kind === 'titled')
      return [...target, ...(argument === '' ? [] : [`**${proseOf(translated(argument))}**`]), ...inner];
    const said = admonitionLabel(name, argument);
    const title =
      said.hasArgument || argument === '' ? translated(said.label) : `${said.label}: ${translated(argument)}`;
    return [...target, `**${proseOf(title)}**`, ...inner];
  }

  function proseOf(text: string): string {
    const shown = text.replace(span, (...found) => {
      const groups: Partial<Record<string, string>> = found.at(-1);
      const { role, content = '', words = '', spaced, target, auto } = groups;
      if (role === 'octicon' || role?.startsWith('fa') === true) return '';
      if (role !== undefined) return wordsOfRole(role, content, references).replaceAll('\0', '`');
      const link = spaced ?? target ?? auto;
      return (link === undefined ? null : linkTo(link, words)) ?? String(found[0]);
    });
    return withTargets(shown, ids);
  }

  /** Returns null for a link that is Markdown already. */
  function linkTo(link: string, words: string): string | null {
    const [, scheme, rest = link] = /^([a-z][a-z+.-]*):(.*)$/i.exec(link) ?? [];
    if (scheme === 'inv')
      return (
        words ||
        `\`${rest
          .split(/[#:]/)
          .at(-1)
          ?.replace(/^\*\.?/, '')}\``
      );
    if (scheme === 'path') return `[${words || posix.basename(rest)}](${rest})`;
    if (scheme !== undefined && scheme !== 'project' && scheme !== 'doc') return words === '' ? link : null;
    const [path = '', name = ''] = rest.split('#', 2);
    const found = path === '' ? sectionNamed(name) : pageNamed(path, { name, words });
    if (found === null)
      return words === '' ? wordsOf(name || path) : scheme === undefined ? null : `[${words}](${rest})`;
    return wordsOfRole('ref', `${words || found.title || name || path} <->`, {
      ...references,
      section: () => found,
    }).replaceAll('\0', '`');
  }

  function sectionNamed(name: string): Referred | null {
    return own.get(name) ?? references.section(name);
  }

  /** Links to files that have a text are plain Markdown already, unless they start at the top folder. */
  function pageNamed(path: string, { name, words }: { name: string; words: string }): Referred | null {
    if (words !== '' && formatOf(path) !== null && !path.startsWith('/')) return null;
    const page = references.document(path);
    if (page === null) return name === '' && !path.includes('/') ? references.section(path) : null;
    if (name === '') return page;
    const section = references.section(name);
    return { title: section?.title ?? page.title, link: section?.link ?? `${page.link}#${name}` };
  }
}

/** Finds the titles of a page of MyST that references may show. */
export function mystLabelsIn(text: string): RstLabels {
  const labels: RstLabels = { title: null, anchors: new Map(), sections: new Map() };
  let open: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, key, value = ''] = option.exec(line) ?? [];
    const name = label.exec(line)?.[1] ?? (key === 'name' && value !== '' ? value : undefined);
    if (name !== undefined) open.push(name);
    if (name !== undefined || line.trim() === '') continue;
    const title = heading.test(line) ? titleOf(line) : null;
    labels.title ??= title;
    if (title !== null) labels.anchors.set(title, explicitId(line) ?? anchorOf(open.at(-1) ?? title));
    for (const each of open) labels.sections.set(normalizedLabel(each), { title, anchor: anchorOf(each) });
    open = [];
  }
  return labels;
}

function titleOf(line: string): string {
  return line.replace(/^ *#+[ \t]+/, '').replace(/(?<![ \t])[ \t]*\{#[^{}]*\}[ \t]*$/, '');
}

function wordsOf(name: string): string {
  return /[.()]|[a-z][A-Z]/.test(name) ? `\`${name}\`` : name.replaceAll(/[-_:/]/g, ' ').trim();
}

/** Replaces targets and the ids of attributes by anchors. */
function withTargets(text: string, ids: ReturnType<typeof createIds>): string {
  const out: string[] = [];
  let last: string | null = null;
  for (const line of text.split('\n')) {
    const name = label.exec(line)?.[1];
    const stated = name === undefined ? attributes.exec(line)?.[1] : undefined;
    const anchor = name === undefined ? (/#([^\s"<>]+)/.exec(stated ?? '')?.[1] ?? null) : anchorOf(name);
    if (anchor !== null && anchor !== '') {
      out.push(anchorTag(anchor));
      if (name !== undefined) last = anchor;
    } else if (name === undefined && stated === undefined) {
      if (last !== null && heading.test(line) && explicitId(line) === null)
        out.splice(out.lastIndexOf(anchorTag(last)), 1);
      out.push(heading.test(line) ? withId(line, last, ids) : line);
      if (line.trim() !== '') last = null;
    }
  }
  return out.join('\n');
}

/** Gives a heading the id of the target in front of it, or else the id that docutils would give it. */
function withId(line: string, target: string | null, ids: ReturnType<typeof createIds>): string {
  const text = headingText(line);
  const id = target ?? ids.take(text);
  return explicitId(line) !== null || id === slugOf(text) ? line : `${line} {#${id}}`;
}

/** Splits the options of a directive, in lines or as YAML, from its text. */
function optionsOf(body: string[]): { options: Map<string, string>; text: string[] } {
  const options = new Map<string, string>();
  const isYaml = body[0]?.trim() === '---';
  let at = isYaml ? 1 : 0;
  for (; at < body.length; at += 1) {
    const line = body[at] ?? '';
    if (isYaml && line.trim() === '---') break;
    const match = isYaml ? /^([\w-]+):[ \t]*(.*)$/s.exec(line) : option.exec(line);
    if (match === null && !isYaml) break;
    if (match !== null) options.set(match[1] ?? '', (match[2] ?? '').trim());
  }
  return { options, text: body.slice(isYaml ? at + 1 : at) };
}

/** Returns where the fence that a line opens is closed. */
function closeOf(lines: string[], from: number, mark: string): number {
  const close = new RegExp(`^[ \\t]*${mark[0]}{${mark.length},}[ \\t]*$`);
  for (let at = from + 1; at < lines.length; at += 1) if (close.test(lines[at] ?? '')) return at;
  return lines.length;
}
