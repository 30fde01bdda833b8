import { posix } from 'node:path';
import { isRecord, textOf } from '../front-matter.ts';
import { parseFile } from '../navigation.ts';
import { configFilesOf, isLanguage, textOfFile } from './config-file.ts';
import type { SourceFiles } from './layout.ts';

const maxLanguages = 100;
const maxSpaces = 100;

/** A space of GitBook: a folder of pages with a summary. */
export interface GitbookSpace {
  /** Start of the addresses of its pages, empty or with a trailing slash. */
  base: string;
  /** The folder of its pages, empty or with a trailing slash. */
  folder: string;
  summary: string;
  readme: string;
  /** Among several spaces, the names of the folders tell whether each is a language, a version or a section. */
  language?: string;
  version?: string;
  section?: string;
  variables: unknown;
}

/**
 * Returns the spaces of a repository, the main one first; null if it is not arranged for GitBook. The top is one, or the
 * folders that `LANGS.md` lists, or all with a summary; and so is each folder with its own configuration.
 */
export function gitbookSpaces(files: SourceFiles): { top: GitbookSpace; spaces: GitbookSpace[] } | null {
  const configs = configFilesOf(files, /(?:^|\/)\.gitbook\.yaml$/);
  const top = spaceIn('', parseFile(files.get('.gitbook.yaml')), files);
  const languages = languagesOf(textOfFile(files.get(`${top.folder}LANGS.md`)))
    .map((language) => ({ ...below(`${language}/`, top), language }))
    .filter(({ summary }) => files.has(summary))
    .slice(0, maxLanguages);
  const own = languages.length > 0 ? languages : files.has(top.summary) ? [top] : summarized(files, top);
  const stated = configs
    .filter(({ folder }) => folder !== '')
    .map(({ file, folder }) => spaceIn(folder, parseFile(file), files))
    // a root outside of its folder is ignored
    .filter(({ base, folder }) => folder.startsWith(base));
  const all = [...new Map([...own, ...stated].map((space) => [space.folder, space])).values()].slice(0, maxSpaces);
  const isOld =
    files.has(own[0]?.summary ?? '') && (files.has(top.readme) || languages.length > 0) && !files.has('book.toml');
  if (!files.has('.gitbook.yaml') && !isOld && stated.length < 2) return null;
  if (all.length < 2) return { top, spaces: all };
  const named = all.map((space) => ({ ...namesOf(space.base), ...space }));
  return { top, spaces: languages.length > 0 ? named : named.toSorted(byRank) };
}

function spaceIn(base: string, config: unknown, files: SourceFiles): GitbookSpace {
  const { root, structure }: Record<string, unknown> = isRecord(config) ? config : {};
  const folder = posix.join(base, textOf(root) ?? '', '/').replace(/^(?:\.{0,2}\/)+/, '');
  const { summary, readme }: Record<string, unknown> = isRecord(structure) ? structure : {};
  return {
    base,
    folder,
    summary: posix.join(folder, textOf(summary) ?? 'SUMMARY.md'),
    readme: posix.join(folder, textOf(readme) ?? 'README.md'),
    variables: variablesIn(folder, files) ?? variablesIn('', files),
  };
}

function variablesIn(folder: string, files: SourceFiles): unknown {
  return parseFile(files.get(`${folder}.gitbook/vars.yaml`));
}

/** Returns the space in a folder below the top, with the names of files that the top has. */
function below(base: string, top: GitbookSpace): GitbookSpace {
  const moved = (path: string) => top.folder + base + path.slice(top.folder.length);
  return { ...top, base, folder: top.folder + base, summary: moved(top.summary), readme: moved(top.readme) };
}

function summarized(files: SourceFiles, top: GitbookSpace): GitbookSpace[] {
  const name = top.summary.slice(top.folder.length);
  return [...files.keys()]
    .filter((path) => path.startsWith(top.folder) && path.endsWith(`/${name}`) && !/(?:^|\/)\./.test(path))
    .sort()
    .map((path) => below(path.slice(top.folder.length, -name.length), top))
    .map((space) => ({ ...space, variables: variablesIn(space.folder, files) ?? top.variables }));
}

/** Returns the folders that a list of languages links to. */
function languagesOf(list: string): string[] {
  return [...list.matchAll(/^[ \t]*[*+-][ \t]+\[[^\]\n]*\]\((?:\.\/)?([\w-]{1,30})\/?(?:README\.md)?\)/gm)].map(
    ([, folder = '']) => folder,
  );
}

function namesOf(base: string): Pick<GitbookSpace, 'language' | 'version' | 'section'> {
  const names = base.split('/').filter((name) => name !== '');
  const language = names.find(isLanguage);
  const version = names.find((name) => /^v?\d+(?:\.[\dx]+)*$/i.test(name));
  const section = language === undefined && version === undefined ? names.at(-1) : undefined;
  return { ...(language && { language }), ...(version && { version }), ...(section && { section }) };
}

/** English comes first, and the newest version. */
function byRank(a: GitbookSpace, b: GitbookSpace): number {
  const isForeign = ({ language = 'en' }: GitbookSpace) => Number(!language.startsWith('en'));
  const isVersion = ({ version }: GitbookSpace) => Number(version !== undefined);
  return (
    isForeign(a) - isForeign(b) ||
    isVersion(a) - isVersion(b) ||
    (b.version ?? '').replace(/^v/i, '').localeCompare((a.version ?? '').replace(/^v/i, ''), 'en', { numeric: true }) ||
    (a.folder < b.folder ? -1 : 1)
  );
}
