import { posix } from 'node:path';
import { mystLabelsIn } from '../formats/myst.ts';
import { labelsIn, normalizedLabel, rstLines, type RstLabels } from '../formats/rst-labels.ts';
import { readIncluded } from '../front-matter.ts';
import type { Layout, SourceFiles, Target } from './layout.ts';

const page = /\.(?:rst|md|markdown)$/;

/**
 * Finds labeled sections and documents by their titles, in the pages of a Sphinx project. Throws UnreadError if they were
 * not read.
 */
export function sphinxReferences(
  files: SourceFiles,
  { top, isExcluded }: { top: string; isExcluded: (path: string) => boolean },
): NonNullable<Layout['references']> {
  let sections: Map<string, Target> | null = null;
  const titles = new Map<string, string | null>();

  function sectionsOfAll(): Map<string, Target> {
    const found = new Map<string, Target>();
    for (const path of files.keys()) {
      if (!path.startsWith(top) || !page.test(path) || isExcluded(path.slice(top.length))) continue;
      const labels = labelsOf(path);
      titles.set(path, labels.title);
      for (const [label, section] of labels.sections) found.set(label, { ...section, file: path });
    }
    return found;
  }

  function labelsOf(path: string): RstLabels {
    // the title of a page with groups is not public
    const text = readIncluded(files.get(path)?.read() ?? '') ?? '';
    return path.endsWith('.rst') ? labelsIn(rstLines(text)) : mystLabelsIn(text);
  }

  return {
    section(label) {
      sections ??= sectionsOfAll();
      return sections.get(normalizedLabel(label)) ?? null;
    },
    document(name, from) {
      const document = name.startsWith('/') ? top + name.slice(1) : posix.join(posix.dirname(from), name);
      const file = [document, `${document}.rst`, `${document}.md`].find((path) => page.test(path) && files.has(path));
      if (file === undefined) return null;
      if (!titles.has(file)) titles.set(file, labelsOf(file).title);
      const title = titles.get(file) ?? null;
      return title === null ? null : { title, file };
    },
  };
}
