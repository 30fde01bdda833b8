import { posix } from 'node:path';
import { readIncluded } from '../read/front-matter.ts';
import type { SourceFile } from '../read/source-file.ts';

const maxSnippetLength = 50_000;
const maxUses = 50;

/** Replaces the tags of a page's imported Markdown files (`import Note from '/snippets/note.mdx'`) with their text. */
export function withSnippets(source: string, files: ReadonlyMap<string, SourceFile>, path = ''): string {
  let uses = 0;
  let text = source;
  for (const [, name = '', from = ''] of importsOf(source)) {
    const file = fileNamed(from, { files, path });
    const snippet = file === undefined ? null : readIncluded(file.read());
    if (file === undefined || snippet === null) continue;
    const included = withLinksFrom(snippet.slice(0, maxSnippetLength), { file: file.path, page: path });
    text = text.replace(new RegExp(`<${name}(?:\\s[^<>]{0,500})?/>`, 'g'), (tag) =>
      uses++ < maxUses ? `\n${included}\n` : tag,
    );
  }
  return text;
}

/** Rewrites links that are relative to the folder of the file to be relative to the folder of the page. */
function withLinksFrom(text: string, { file, page }: { file: string; page: string }): string {
  const folder = posix.relative(posix.dirname(page), posix.dirname(file));
  return text.replace(
    /\]\((\.{1,2}\/[^()\s:]{1,500})\)/g,
    (_link, target: string) => `](${posix.join(folder, target)})`,
  );
}

/** Reports whether a page may contain text of other files. */
export function usesSnippets(source: string): boolean {
  return importsOf(source).length > 0;
}

function importsOf(source: string): RegExpExecArray[] {
  const imports = source
    .slice(0, 20_000)
    .matchAll(/^import\s+([A-Z]\w{0,80})\s+from\s+["']([^"'\n]{1,300}\.mdx?)["']/gm);
  return [...imports].slice(0, maxUses);
}

/** Imports start at the page's folder, the site's folder (`/` or `@site/`), or name a file of `snippets/`. */
function fileNamed(
  from: string,
  { files, path }: { files: ReadonlyMap<string, SourceFile>; path: string },
): SourceFile | undefined {
  const beside = from.startsWith('.') ? posix.normalize(posix.join(posix.dirname(path), from)) : '';
  const below = posix.normalize(from).replace(/^(?:\.\.\/|\.\/|\/|@site\/)+/, '');
  return files.get(beside) ?? files.get(below) ?? files.get(`snippets/${posix.basename(below)}`);
}
