import { applyNavigation } from './apply-navigation.ts';
import { readText, type TextSurroundings } from './formats/read-text.ts';
import { listOf, textOf } from './front-matter.ts';
import { headingText, linesOf } from './markdown-lines.ts';
import type { Operation } from './openapi.ts';
import { operationNamed, type OperationFile } from './operation-pages.ts';
import { pathOf } from './paths.ts';
import type { SourceFile } from './source-file.ts';
import type { PageMetadata, SourcePage } from './source-page.ts';

export interface Surroundings extends TextSurroundings {
  apis: OperationFile[];
  /** Operations that have a page of their own. */
  documented: Set<Operation>;
}

/** Reads a page of a site; null if the file has none. Errors: RangeError for markup that is nested too deeply. */
export async function readPage(
  file: SourceFile,
  { apis, documented, ...surroundings }: Surroundings,
): Promise<SourcePage | null> {
  const read = await readText(file, surroundings);
  const { layout } = surroundings;
  const location = read === null ? null : layout.locate({ path: file.path, values: read.values });
  if (read === null || location === null) return null;
  const { values } = read;
  let content = read.body;
  const isOld = saysDeprecated(values, content);
  const operation = operationNamed(textOf(values.openapi), apis);
  if (operation !== null) {
    documented.add(operation);
    content = [operation.lead, content.trim(), operation.details].filter(Boolean).join('\n\n');
  }
  const { path } = location;
  const title =
    textOf(values.title) ??
    operation?.title ??
    firstHeading(content) ??
    textOf(values.sidebarTitle) ??
    titleOfPath(path);
  const metadata: PageMetadata = { title };
  const description = textOf(values.description) ?? operation?.description;
  if (description !== undefined) metadata.description = description;
  const tags = listOf(values.tags) ?? operation?.tags;
  if (tags !== undefined) metadata.tags = tags;
  const keywords = listOf(values.keywords);
  if (keywords !== undefined) metadata.keywords = keywords;
  const isHidden =
    values.hidden === true || values.draft === true || values.searchable === false || values.noindex === true;
  const boost = typeof values.boost === 'number' ? values.boost : null;
  const isDeprecated = isOld || operation?.isDeprecated === true;
  const page = { path, content, metadata, isHidden, isDeprecated, boost, values };
  const placed = applyNavigation(page, { navigation: layout.navigation, key: pathOf(file.path), location });
  const isAlone = read.isAlone && values.openapi === undefined;
  return isAlone && file.name !== undefined ? { ...placed, source: { file: file.path, name: file.name } } : placed;
}

/** A page may state in its front matter or in its first words that it has been superseded. */
function saysDeprecated(values: Record<string, unknown>, content: string): boolean {
  if (values.deprecated === true || /^deprecated$/i.test(textOf(values.tag) ?? '')) return true;
  return /^\W*(?:deprecated\b|this \w+ (?:is|has been) deprecated\b)/i.test(content.slice(0, 200));
}

function firstHeading(content: string): string | undefined {
  for (const line of linesOf(content)) {
    const text = line.level > 0 ? headingText(content.slice(line.start, Math.min(line.end, line.start + 400))) : '';
    if (text !== '') return text;
  }
  return undefined;
}

function titleOfPath(path: string): string {
  const name = path.split('/').at(-1) ?? path;
  const words = name.replace(/[-_]+/g, ' ').trim() || path;
  return words.charAt(0).toUpperCase() + words.slice(1);
}
