/** Roles whose text is a name, a key or a file, as Sphinx and docutils call them. */
const wordRoles =
  /^(?:ref|doc|numref|term|any|abbr|strong|emphasis|sub|sup|subscript|superscript|title|title-reference|download|guilabel|menuselection|dfn|index|issue|user)$/;
/** Addresses of the documents that roles cite by number. */
const standards: Record<string, (number: string) => string> = {
  pep: (number) => `https://peps.python.org/pep-${number.padStart(4, '0')}/`,
  rfc: (number) => `https://datatracker.ietf.org/doc/html/rfc${number}.html`,
};
const literal = /(``.+?``)/s;
const substitution = /\|([^|\s](?:[^|\n]{0,80}[^|\s])?)\|_{0,2}/g;
const role = /:([\w.+:-]{1,60}):`([^`]{1,1000})`/g;
const namedLink = /`([^`<]{0,500}?)\s*<([^<>`]{1,2000})>`_{1,2}/g;
const reference = /(?<![\w`])([A-Za-z0-9][\w.-]{0,80})_{1,2}(?![\w`])/g;
const phrase = /`([^`]{1,500})`(_{0,2})/g;

export interface InlineContext {
  /** Text of a substitution (`|name|`). */
  substitutions: ReadonlyMap<string, string>;
  /** Addresses of the external link targets (`.. _name: https://…`), by lower-case name. */
  targets: ReadonlyMap<string, string>;
}

/** Converts the inline markup of reStructuredText to Markdown; literals keep their text. */
export function inlineOf(text: string, context: InlineContext): string {
  const parts = text.split(literal);
  return parts.map((part, at) => (at % 2 === 1 ? codeOf(part.slice(2, -2)) : proseOf(part, context))).join('');
}

function proseOf(text: string, { substitutions, targets }: InlineContext): string {
  return text
    .replace(substitution, (whole, name: string) => substitutions.get(name) ?? whole)
    .replace(role, (_whole, name: string, content: string) => wordsOfRole(name, content))
    .replace(namedLink, (_whole, words: string, target: string) => linkTo(words || target, target, targets))
    .replace(phrase, (whole, words: string, mark: string) => {
      if (mark === '') return words.startsWith('\u0000') ? whole : `*${words}*`;
      return linkTo(words, targets.get(words.toLowerCase()) ?? '', targets);
    })
    .replace(reference, (whole, name: string) => {
      const address = targets.get(name.toLowerCase());
      return address === undefined ? whole : linkTo(name, address, targets);
    })
    .replaceAll(/\\([\\`*_|:<>'"()[\]{}.,-])/g, '$1')
    .replaceAll(/\\[ \n]/g, '')
    .replaceAll('\u0000', '`');
}

function linkTo(words: string, target: string, targets: ReadonlyMap<string, string>): string {
  const address = target.endsWith('_') ? (targets.get(target.slice(0, -1).toLowerCase()) ?? '') : target;
  return /^\S+$/.test(address) ? `[${words}](${address.replaceAll('(', '%28').replaceAll(')', '%29')})` : words;
}

function wordsOfRole(name: string, content: string): string {
  const [, words = '', target = content] = /^(.*?)\s*<([^<>]+)>$/s.exec(content) ?? [];
  const kind = name.split(':').at(-1) ?? name;
  if (kind === 'doc') {
    const shown = words || (target.split('/').at(-1) ?? target).replaceAll(/[-_]/g, ' ');
    const link = target.trim();
    return /[\s()]/.test(link) ? shown : `[${shown}](${link}${link.startsWith('/') ? '' : '.rst'})`;
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

function codeOf(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}
