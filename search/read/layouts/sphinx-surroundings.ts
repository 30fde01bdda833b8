import { literalOf } from './config-file.ts';

const longest = 50_000;
/** The first field list of a page, which is its front matter. */
const fields = /^\s*(?::[^:\s`][^:`\n]{0,100}:.*\n(?:[ \t]+\S.*\n)*)+/;

/**
 * Returns a setting of `conf.py` that is one string, in whichever quotes; empty if it is none. Values in braces of an
 * f-string are filled in if they are plain strings of the same file.
 */
export function textIn(config: string, name: string): string {
  const start = new RegExp(`^${name}[ \\t]*(?::[ \\t]*str[ \\t]*)?=[ \\t(\\n]*([rfRF]{0,2})("""|'''|"|')`, 'm').exec(
    config,
  );
  if (start === null) return '';
  const [whole, prefix = '', quote = ''] = start;
  const from = start.index + whole.length;
  const end = config.indexOf(quote, from);
  if (end === -1) return '';
  const text = config.slice(from, Math.min(end, from + longest));
  const plain = /r/i.test(prefix)
    ? text
    : text.replaceAll(/\\(.|\n)/g, (_whole, mark: string) => (mark === 'n' ? '\n' : mark === '\n' ? '' : mark));
  if (!/f/i.test(prefix)) return plain;
  return plain.replaceAll(/\{([A-Za-z_]\w{0,60})\}/g, (braces, word: string) => literalOf(config, word) ?? braces);
}

/** Puts the texts of `rst_prolog` and `rst_epilog` around a page, below its front matter. */
export function surrounded(source: string, { prolog, epilog }: { prolog: string; epilog: string }): string {
  if (prolog === '' && epilog === '') return source;
  const head = prolog === '' ? '' : (fields.exec(source.slice(0, longest))?.[0] ?? '');
  const before = prolog === '' ? '' : `${head === '' ? '' : `${head}\n`}${prolog}\n\n`;
  return `${before}${source.slice(head.length)}${epilog === '' ? '' : `\n\n${epilog}\n`}`;
}
