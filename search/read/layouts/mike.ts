import { isRecord, listOf, textOf } from '../front-matter.ts';
import { noNavigation, parseFile } from '../navigation.ts';
import { pathOf } from '../paths.ts';
import { addressOf, orderOf, textOfFile } from './config-file.ts';
import type { Layout, SourceFiles } from './layout.ts';

const maxVersions = 500;

interface Version {
  name: string;
  aliases: string[];
}

/** Versions of MkDocs as mike publishes them on a branch: HTML in a folder for each, beside `versions.json`. */
export function mikeLayout(files: SourceFiles): Layout | null {
  const versions = versionsIn(files);
  // the page at the top leads to the default version, often by an alias
  const start = /\burl=([^"'/]{1,200})\//.exec(textOfFile(files.get('index.html')))?.[1];
  const [main] = [start, 'latest', versions[0]?.name].flatMap((folder) => {
    const version = versions.find(({ name, aliases }) => folder === name || aliases.includes(folder ?? ''));
    return folder === undefined || version === undefined ? [] : [{ name: version.name, folder }];
  });
  if (main === undefined) return null;
  const folders = [main.name, ...versions.map(({ name }) => name).filter((name) => name !== main.name)];
  return {
    name: 'MkDocs',
    navigation: noNavigation,
    settings: { folders, main },
    locate({ path }) {
      const [version = '', ...rest] = path.split('/');
      const at = folders.indexOf(version);
      // aliases have the same pages again
      if (at === -1 || rest.join('/') === '404.html') return null;
      const page = pathOf(rest.join('/')).replace(/(^|\/)index$/, '');
      return { path: addressOf(at === 0 ? main.folder : version, page), version, order: orderOf([at]) };
    },
  };
}

/** Returns the versions that have pages, the newest first. */
function versionsIn(files: SourceFiles): Version[] {
  const stated = parseFile(files.get('versions.json'));
  const folders = new Set([...files.keys()].map((path) => path.split('/', 1)[0]));
  return (Array.isArray(stated) ? stated : []).slice(0, maxVersions).flatMap((entry: unknown): Version[] => {
    const name = isRecord(entry) && Array.isArray(entry.aliases) ? textOf(entry.version) : undefined;
    return isRecord(entry) && name !== undefined && folders.has(name)
      ? [{ name, aliases: listOf(entry.aliases) ?? [] }]
      : [];
  });
}
