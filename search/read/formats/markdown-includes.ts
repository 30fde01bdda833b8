import { posix } from 'node:path';
import { formatOf } from './format-of.ts';
import type { IncludeSyntax } from './includes.ts';
import { codeBlock, dedented, indentedLike, inRanges } from './selection.ts';

type Groups = Partial<Record<string, string>>;

const isPage = ({ target = '' }: Groups) => formatOf(target) === 'markdown';

/** VitePress: `<<< @/code.ts#region{1,3} [Title]` is code, `<!--@include: ./part.md{3,}-->` is Markdown. */
export function vitepressIncludes(top: string): IncludeSyntax {
  return {
    pattern:
      /^(?<indent>[ \t]*)(?<open><<<|<!--[ \t]*@include:)[ \t]*(?<target>[^\s{}#>]{1,500})(?:#(?<region>[\w.-]{1,100}))?(?:[ \t]*\{(?<selected>[^}\n]{0,100})\})?(?:[ \t]*\[(?<title>[^\]\n]{1,200})\])?[ \t]*(?:-->[ \t]*)?$/gm,
    resolve: (target, from) => [
      /^@[/\\]/.test(target) ? top + target.slice(2) : posix.normalize(posix.join(posix.dirname(from), target)),
    ],
    isCode: ({ groups = {} }) => groups.open === '<<<',
    adapt(text, { groups = {} }) {
      const { open, target = '', region, selected = '', title, indent } = groups;
      const all = text.split(/\r?\n/);
      const lines = region === undefined ? all : namedPart(all, region, regionMark);
      if (open !== '<<<')
        return inRanges(lines, /^[\d,]+$/.test(selected) ? selected.replace(',', '-') : '1-').join('\n');
      const language = /[a-z][\w-]*$/i.exec(selected)?.[0] ?? posix.extname(target).slice(1);
      const code = codeBlock(dedented(lines.filter((line) => !regionMark.test(line))), language);
      return indentedLike(title === undefined ? code : `**${title}**\n\n${code}`, indent);
    },
  };
}

const regionMark = /(?:^|\W)#?(region|endregion)\b[ \t]*([\w.-]*)/;
const sectionMark = /-8<-{1,8}[ \t]+\[(start|end):[ \t]*([\w.-]+)\]/;

/** Returns the lines between two region markers of a name; the end marker may omit the name. */
function namedPart(lines: string[], name: string, mark: RegExp): string[] {
  const start = lines.findIndex((line) => {
    const [, kind = '', own] = mark.exec(line) ?? [];
    return own === name && !kind.startsWith('end');
  });
  if (start === -1) return [];
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => {
    const [, kind = '', own = ''] = mark.exec(line) ?? [];
    return kind.startsWith('end') && (own === name || own === '');
  });
  return end === -1 ? rest : rest.slice(0, end);
}

/** A list of files between two `--8<--` lines. A leading semicolon disables a file. */
const snippetList = /^([ \t]*)(-{1,8}8<-{1,8})[ \t]*\n((?:(?!\1\2)[^\n]{0,500}\n){1,100})\1\2[ \t]*$/gm;

/**
 * MkDocs: `--8<-- "code.py:part"` of the snippets extension, `{!part.md!}` of markdown-include, `{% include "part.md" %}` of
 * include-markdown, and `{* code.py ln[1:3] *}`, which becomes a code block. Targets start at the configuration, at the
 * folder of pages or at the page.
 */
export function mkdocsIncludes(folder: string): IncludeSyntax {
  return {
    rewrite: (page) =>
      page.replace(snippetList, (_list, indent: string, _scissors, files: string) =>
        files.replace(/^[ \t]*(.*)$/gm, (_line, file: string) =>
          file === '' || file.startsWith(';') ? '' : `${indent}--8<-- "${file.trimEnd()}"`,
        ),
      ),
    pattern:
      /^(?<indent>[ \t]*)(?<open>-{1,8}8<-{1,8}[ \t]+(?=["'])|\{!>?|\{\*|\{%-?[ \t]+include(?:-markdown)?(?=[ \t]))[ \t]*["']?(?<target>[^"'\s!*%:]{1,500})(?::(?<part>[\w:,-]{1,100}))?["']?(?<rest>[^\n]{0,300}?)(?:[!*]\}|-?%\})?[ \t]*$/gm,
    resolve: (target, from) => [
      ...new Set([target, folder + target, posix.join(posix.dirname(from), target)].map(posix.normalize)),
    ],
    isCode: ({ groups = {} }) => !isPage(groups),
    adapt(text, { groups = {} }) {
      const { open = '', target = '', part = '', rest = '', indent } = groups;
      const all = text.replace(/\n$/, '').split(/\r?\n/);
      const lines = (
        /^[\d:,-]*$/.test(part)
          ? part === ''
            ? all
            : inRanges(all, part)
          : dedented(namedPart(all, part, sectionMark))
      ).filter((line) => !sectionMark.test(line));
      if (!open.startsWith('{*')) return indentedLike(markedPart(lines.join('\n'), rest), indent);
      const ranges = /\bln\[([\d:,]{1,100})\]/.exec(rest)?.[1];
      const shown = ranges === undefined ? lines : inRanges(lines, ranges);
      return indentedLike(codeBlock(shown, posix.extname(target).slice(1)), indent);
    },
  };
}

/** Returns the text between the marks that include-markdown names. */
function markedPart(text: string, rest: string): string {
  const start = /\bstart=["']([^"'\n]{1,200})["']/.exec(rest)?.[1];
  const end = /\bend=["']([^"'\n]{1,200})["']/.exec(rest)?.[1];
  const from = start === undefined ? 0 : text.indexOf(start) + start.length;
  const to = end === undefined ? -1 : text.indexOf(end, from);
  return to === -1 ? text.slice(from) : text.slice(from, to);
}
