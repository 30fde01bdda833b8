/** Names around the description of an object, which its id contains. */
export interface ObjectScope {
  module: string;
  /** Name of the object around it. */
  around: string;
  /** Program whose options are described. */
  program: string;
}

const dotted =
  /^(?:(?:py|js):)?(?:function|class|method|attribute|data|exception|decorator|decoratormethod|classmethod|staticmethod|property|type)$/;
const standard = /^(?:std:)?(envvar|confval|setting|event|signal)$/;
const ofMarkup = /^rst:(directive:option|directive|role)$/;

/** Returns the ids that Sphinx gives to the description of an object, and its full name. */
export function objectOf(
  directive: string,
  signature: string,
  { module, around, program }: ObjectScope,
): { name: string; ids: string[] } {
  if (dotted.test(directive)) {
    const [, own = ''] = /^(?:(?:class|async|abstract|static|final) +)*([\w.$]+)/.exec(signature) ?? [];
    const name = around === '' || own.startsWith(`${around}.`) ? own : `${around}.${own}`;
    const full = module === '' ? name : `${module}.${name}`;
    return { name, ids: own === '' ? [] : [idOf('', full)] };
  }
  if (/^(?:std:)?(?:cmd)?option$/.test(directive)) {
    const names = signature.split(', ').map((option) => /^[^\s=[]+/.exec(option.trim())?.[0] ?? '');
    const prefix = program === '' ? 'cmdoption' : `cmdoption-${program}`;
    return {
      name: names[0] ?? '',
      ids: names.map((option) => idOf(/^[-/]/.test(option) ? prefix : `${prefix}-arg`, option)),
    };
  }
  const called = signature.split('(', 1)[0]?.trimEnd() ?? '';
  const kind = standard.exec(directive)?.[1];
  if (kind !== undefined) return { name: called, ids: [idOf(kind, called)] };
  const markup = ofMarkup.exec(directive)?.[1];
  if (markup !== undefined) {
    const isOption = markup === 'directive:option';
    const name = isOption
      ? signature.split(/:\s/, 1)[0]?.trimEnd()
      : (/^\.\. (.+?)::/.exec(signature)?.[1] ?? signature);
    return { name: name ?? '', ids: [idOf(isOption && around !== '' ? `${markup}-${around}` : markup, name ?? '')] };
  }
  if (directive.startsWith('c:')) {
    const own = /(?<![\w.])[\w.]+$/.exec(called)?.[0] ?? '';
    const name = around === '' ? own : `${around}.${own}`;
    return { name, ids: [`c.${name}`] };
  }
  return { name: '', ids: [] };
}

/** Returns an id as Sphinx makes it of a name; unlike docutils it keeps capitals, dots and underscores. */
export function idOf(prefix: string, name: string): string {
  return (prefix === '' ? name : `${prefix}-${name}`)
    .normalize('NFKD')
    .replaceAll(/\P{ASCII}/gu, '')
    .replaceAll(/[^a-zA-Z0-9._]+/g, '-')
    .replaceAll(/^[-0-9._]+|-$/g, '');
}

/** Reports whether a description asks for no index entry and anchor. */
export function isUnindexed(options: ReadonlyMap<string, string>): boolean {
  return ['no-index', 'noindex', 'no-index-entry'].some((option) => options.has(option));
}
