type DirectiveKind = 'scope' | 'code' | 'unshown' | 'image' | 'admonition' | 'container' | 'object' | 'titled';

const kinds: [DirectiveKind, RegExp][] = [
  ['scope', /^(?:(?:(?:py|js):)?(?:current)?module|program)$/],
  [
    'unshown',
    /^(?:toctree|contents|sectnum|index|raw|highlight|default-role|tabularcolumns|meta|title|role|include|literalinclude|auto\w+|graphviz|digraph|inheritance-diagram|testsetup|testcleanup|todolist|ifconfig)$/,
  ],
  [
    'code',
    /^(?:code(?:-block|-cell)?|sourcecode|parsed-literal|prompt|console|math|productionlist|ipython|doctest|testcode|mermaid)$/,
  ],
  ['image', /^(?:image|figure)$/],
  [
    'admonition',
    /^(?:note|tip|hint|important|warning|caution|danger|error|attention|seealso|admonition|versionadded|versionchanged|versionremoved|deprecated|todo|topic|sidebar)$/,
  ],
  [
    'container',
    /^(?:only|container|glossary|compound|rst-class|hlist|epigraph|grid|grid-item|tab-set|tabs|div|figure-md)$/,
  ],
  [
    'object',
    /^(?:(?:[\w-]+:)+[\w-]+|function|class|method|attribute|data|exception|classmethod|staticmethod|decorator|property|option|envvar|confval|cmdoption|describe|object|setting|event)$/,
  ],
];
const labels: Record<string, string> = {
  seealso: 'See also',
  versionadded: 'Added in version',
  versionchanged: 'Changed in version',
  versionremoved: 'Removed in version',
  deprecated: 'Deprecated since version',
};

/** Returns how a directive of docutils, of Sphinx or of their extensions is shown. */
export function kindOfDirective(name: string): DirectiveKind {
  return kinds.find(([, pattern]) => pattern.test(name))?.[0] ?? 'titled';
}

/** Returns the label of an admonition, and whether its argument is part of it, not of its text. */
export function admonitionLabel(name: string, argument: string): { label: string; hasArgument: boolean } {
  if (/^(?:admonition|topic|sidebar)$/.test(name)) return { label: argument, hasArgument: true };
  const label = labels[name] ?? name.charAt(0).toUpperCase() + name.slice(1);
  return /^(?:version|deprecated$)/.test(name)
    ? { label: `${label} ${argument}`.trim(), hasArgument: true }
    : { label, hasArgument: false };
}

/** Returns the kind of object whose description a directive generates; what is written below it is shown nevertheless. */
export function generatedBy(name: string): string | undefined {
  return /^auto(class|exception|method|attribute|function|data)$/.exec(name)?.[1];
}
