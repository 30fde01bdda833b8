import { posix } from 'node:path';
import { isRecord, textOf } from '../../front-matter.ts';
import type { SourceFiles } from '../layout.ts';

const extension = /\.(?:mdx?|markdown|html?|adoc|asciidoc|rst)$/i;

/** A folder of content; `language` is that of all its pages. */
export interface ContentFolder {
  folder: string;
  language: string | undefined;
}

/** The folders of content and the main language. */
export interface HugoContent {
  folders: ContentFolder[];
  main: string;
}

/** A page among the sections of its language. */
export interface HugoPlace {
  root: ContentFolder;
  language: string | undefined;
  /** The language that its file names. */
  suffix: string | undefined;
  /** Names of the sections around it, and its own if it is the page of a section. */
  sections: string[];
  /** Null for the page of a section. */
  name: string | null;
}

/** Returns the folders of content; a language may have its own, below the common one. */
export function contentFolders(
  languages: Record<string, unknown>,
  { base, content, files }: { base: string; content: string; files: SourceFiles },
): ContentFolder[] {
  const own = Object.entries(languages)
    .slice(0, 100)
    .flatMap(([language, value]): ContentFolder[] => {
      const stated = isRecord(value) ? textOf(value.contentDir) : undefined;
      const folder = stated === undefined ? `${content}${language}/` : posix.join(base, stated, '/');
      return [...files.keys()].some((path) => path.startsWith(folder)) ? [{ folder, language }] : [];
    });
  return [...own, { folder: content, language: undefined }];
}

/** Returns where a file is published; null if it is not. */
export function placeOf(path: string, { folders, main }: HugoContent): HugoPlace | null {
  const root = folders.find(({ folder }) => path.startsWith(folder));
  if (root === undefined) return null;
  const bare = path.slice(root.folder.length).replace(extension, '');
  const suffix = root.language === undefined ? /\.([a-z]{2}(?:-[a-z]{2,4})?)$/i.exec(bare)?.[1] : undefined;
  const segments = (suffix === undefined ? bare : bare.slice(0, -suffix.length - 1)).split('/');
  if (segments.some((segment) => /^_(?!index$)/.test(segment))) return null;
  const language = root.language ?? suffix ?? (folders.length > 1 ? main : undefined);
  const file = segments.at(-1) ?? '';
  const isBundle = file === 'index';
  return {
    root,
    language,
    suffix,
    sections: segments.slice(0, isBundle ? -2 : -1),
    name: file === '_index' ? null : isBundle ? (segments.at(-2) ?? '') : file,
  };
}

/** Returns the names that lead from the top to a page. */
export function namesOf({ sections, name }: HugoPlace): string[] {
  return name === null ? sections : [...sections, name];
}
