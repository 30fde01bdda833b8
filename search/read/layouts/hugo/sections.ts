import { posix } from 'node:path';
import { readIncludedPage, textOf } from '../../front-matter.ts';
import { textOfFile } from '../config-file.ts';
import type { SourceFiles } from '../layout.ts';

const maxSections = 10_000;
const sectionFile = /(?:^|\/)_index(?:\.([a-z]{2}(?:-[a-z]{2,4})?))?\.(?:mdx?|markdown|html?|adoc|asciidoc)$/i;

/** Properties that a section's page states. */
export interface HugoSection {
  title?: string;
  weight?: number;
}

/** Sections by their folders, with the language that their file names. */
export type HugoSections = ReadonlyMap<string, HugoSection>;

/** Reports whether a file is the page of a section. */
export function isSection(path: string): boolean {
  return sectionFile.test(path);
}

/** Reads the titles and weights of sections; the title of a page for groups is not shown on others. */
export function sectionsOf(files: SourceFiles, folders: readonly string[]): HugoSections {
  const sections = new Map<string, HugoSection>();
  for (const file of files.values()) {
    const found = folders.some((folder) => file.path.startsWith(folder)) ? sectionFile.exec(file.path) : null;
    if (found === null || sections.size >= maxSections) continue;
    const values = readIncludedPage(textOfFile(file))?.values ?? {};
    const title = textOf(values.linkTitle) ?? textOf(values.title);
    sections.set(keyOf(posix.dirname(file.path), found[1]), { title, weight: weightOf(values) });
  }
  return sections;
}

/** Returns the sections in a folder of content that lead down to a page, from the top. */
export function sectionsAbove(
  names: readonly string[],
  { content, language, sections }: { content: string; language: string | undefined; sections: HugoSections },
): (HugoSection | undefined)[] {
  return names.map((_, at) => {
    const folder = posix.join(content, ...names.slice(0, at + 1));
    return sections.get(keyOf(folder, language)) ?? sections.get(keyOf(folder, undefined));
  });
}

export function weightOf(values: Record<string, unknown>): number | undefined {
  return typeof values.weight === 'number' && values.weight > 0 ? values.weight : undefined;
}

function keyOf(folder: string, language: string | undefined): string {
  return `${folder}|${language?.toLowerCase() ?? ''}`;
}
