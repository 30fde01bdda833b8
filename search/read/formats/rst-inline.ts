import { anchorOf, anchorTag, normalizedLabel, type References } from './rst-labels.ts';

/** Roles whose text is a name, a key or a file, as Sphinx and docutils call them. */
const wordRoles =
  /^(?:ref|doc|numref|term|any|abbr|strong|emphasis|sub|sup|subscript|superscript|title|title-reference|download|guilabel|menuselection|dfn|index|issue|user|pypi|eq|sub-ref)$/;
/** Addresses of the documents that roles cite by number. */
const standards: Record<string, (number: string) => string> = {
  pep: (number) => `https://peps.python.org/pep-${number.padStart(4, '0')}/`,
  rfc: (number) => `https://datatracker.ietf.org/doc/html/rfc${number}.html`,
};
const literal = /(``.+?``(?!`))/s;
/** A literal in the text of a substitution or title. */
const inner = /``(.+?)``/g;
const substitution = /\|([^|\s](?:[^|\n]{0,80}[^|\s])?)\|_{0,2}/g;
const role = /:([\w.+:-]{1,60}):`([^`]{1,1000})`/g;
export const namedLink = /`([^`<]{0,500}?)\s*<([^<>`]{1,2000})>`_{1,2}/g;
/** Code or the address of a link, which contain no references, or a reference. */
const reference =
  /\0[^\0]*\0|\]\([^()\s]*\)|`([^`]{1,500})`(_{0,2})|(?<![\w`])([A-Za-z0-9][\w.-]{0,80}?)(_{1,2})(?=[\s.,:;!?'")\]}>/\\-]|$)/g;
/** A target in running text. */
export const inlineTarget = /(?<![\w`])_`([^`\n]{1,200})`(?!_)/g;
/** Labels of pages that Sphinx generates. */
const generated: Record<string, string> = {
  genindex: 'Index',
  modindex: 'Module Index',
  'py-modindex': 'Python Module Index',
  search: 'Search Page',
};

export interface InlineContext {
  /** Text of a substitution (`|name|`). */
  substitutions: ReadonlyMap<string, string>;
  /** Addresses of the external link targets (`.. _name: https://…`), by lower-case name. */
  targets: ReadonlyMap<string, string>;
  /** Addresses of the targets without a name (`__ https://…`), in order: each reference takes the next. */
  anonymous: string[];
  /** Sections and pages that roles name; null for those that are not found. */
  references: References;
}

/** Finds no references. */
export const nothing: References = { section: () => null, document: () => null };

/** Converts the inline markup of reStructuredText to Markdown; literals keep their text. */
export function inlineOf(text: string, context: InlineContext): string {
  const parts = text.split(literal);
  return parts.map((part, at) => (at % 2 === 1 ? codeOf(part.slice(2, -2)) : proseOf(part, context))).join('');
}

function proseOf(text: string, context: InlineContext): string {
  const { substitutions, targets, anonymous } = context;
  return text
    .replace(substitution, (whole, name: string) => {
      const words = substitutions.get(name)?.replaceAll(inner, '\0$1\0');
      return words === undefined || !whole.endsWith('_') ? (words ?? whole) : linkTo(words, `${name}_`, targets);
    })
    .replace(role, (_whole, name: string, content: string) => wordsOfRole(name, content, context.references))
    .replace(namedLink, (_whole, words: string, target: string) => linkTo(words || target, target, targets))
    .replace(inlineTarget, (_whole, words: string) => `\uE000${anchorOf(words)}\uE000${words}`)
    .replace(reference, (whole, phrase?: string, mark = '', word = '', wordMark = '') => {
      if (/^[\0\]]/.test(whole)) return whole;
      if (phrase !== undefined && mark === '') return phrase.startsWith('\0') ? whole : `*${phrase}*`;
      const words = phrase ?? word;
      const address =
        (mark || wordMark) === '__' && anonymous.length > 0 ? anonymous.shift() : targets.get(normalizedLabel(words));
      return phrase === undefined && address === undefined ? whole : linkTo(words, address ?? '', targets);
    })
    .replaceAll(/\\([\\`*_|:<>'"()[\]{}.,-])/g, '$1')
    .replaceAll(/\\[ \n]/g, '')
    .split('\u0000')
    .map((part, at) => (at % 2 === 1 ? part : part.replaceAll(/<(?=[a-z/!])/gi, String.raw`\<`)))
    .join('`')
    .replaceAll(/\uE000([^\uE000]*)\uE000/g, (_whole, id: string) => anchorTag(id));
}

function linkTo(words: string, target: string, targets: ReadonlyMap<string, string>): string {
  const name = target.endsWith('_') ? target.slice(0, -1).replaceAll('`', '') : null;
  const address = name === null ? target : (targets.get(normalizedLabel(name)) ?? '');
  return /^\S+$/.test(address) ? `[${words}](${address.replaceAll('(', '%28').replaceAll(')', '%29')})` : words;
}

/** Returns the text of a role as Markdown, with U+0000 around code. */
export function wordsOfRole(name: string, content: string, references: References): string {
  const [, words = '', target = content] = /^(.*\S)\s*<([^<>]+)>$/s.exec(content) ?? [];
  const kind = name.split(':').at(-1) ?? name;
  const referred =
    (/^(?:ref|any)$/.test(kind) ? references.section(target) : null) ??
    (/^(?:doc|any)$/.test(kind) ? references.document(target) : null);
  if (referred !== null && (words !== '' || referred.title !== null)) {
    const shown = words || titleOf(referred.title ?? '');
    return /[[\]]/.test(shown) ? shown : `[${shown}](${referred.link})`;
  }
  if (kind === 'ref' && words === '' && generated[normalizedLabel(target)] !== undefined)
    return generated[normalizedLabel(target)] ?? '';
  if (kind === 'doc') {
    const shown = words || (target.split(/[/:]/).at(-1) ?? target).replaceAll(/[-_]/g, ' ');
    const link = target.trim();
    // a document of another project has its name before a colon
    return /[\s():]/.test(link) ? shown : `[${shown}](${link}${link.startsWith('/') ? '' : '.rst'})`;
  }
  const standard = standards[kind];
  if (standard !== undefined && /^\d{1,6}(?:#\S*)?$/.test(target)) {
    const [number = '', anchor] = target.split('#');
    const address = `${standard(number)}${anchor === undefined ? '' : `#${anchor}`}`;
    return `[${words || `${kind.toUpperCase()} ${number}`}](${address})`;
  }
  const shown = words || target.replace(/^!/, '').replace(/^~(?:.*\.)?/, '');
  if (wordRoles.test(kind)) return kind === 'ref' && words === '' ? shown.replaceAll(/[-_:]/g, ' ') : shown;
  return `\u0000${shown}\u0000`;
}

function titleOf(text: string): string {
  return text
    .replaceAll(inner, '\0$1\0')
    .replace(role, (_whole, name: string, content: string) => wordsOfRole(name, content, nothing));
}

function codeOf(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}
