import { posix } from 'node:path';
import { asciidocIncludes } from '../formats/asciidoc-includes.ts';
import { isRecord, textOf } from '../front-matter.ts';
import { parseFile, readConfig, type Navigation } from '../navigation.ts';
import { pathOf } from '../paths.ts';
import { addressOf, configFilesOf } from './config-file.ts';
import type { Layout, PageLocation, SourceFiles } from './layout.ts';

/** `version@component:module:family$path`, of which all but the path may be missing. */
const resource =
  /^(?:([\w.-]+)@)?(?:([\w.-]*):)?(?:([\w.-]*):)?(?:(page|partial|example|attachment|image)\$)?([^#]*)(#.*)?$/;
const families = {
  page: 'pages',
  partial: 'partials',
  example: 'examples',
  attachment: 'attachments',
  image: 'images',
};
const maxComponents = 100;

interface Component {
  folder: string;
  name: string;
  version: string | null;
  attributes: Record<string, string>;
  lists: string[];
}

/** Antora: a folder with `antora.yml` for each version of a component. */
export function antoraLayout(files: SourceFiles): Layout | null {
  const components = configFilesOf(files, /(?:^|\/)antora\.ya?ml$/)
    .slice(0, maxComponents)
    .flatMap(({ file, folder }) => {
      const value = parseFile(file);
      const name = isRecord(value) ? textOf(value.name) : undefined;
      const isComponent = [...files.keys()].some((path) => path.startsWith(`${folder}modules/`));
      return isRecord(value) && name !== undefined && isComponent ? [componentOf(value, { name, folder })] : [];
    });
  if (components.length === 0) return null;
  const [playbook] = configFilesOf(files, /(?:^|\/)antora-playbook\.ya?ml$/);
  const settings = parseFile(playbook?.file);
  const urls = isRecord(settings) && isRecord(settings.urls) ? settings.urls : {};
  const suffix = ['indexify', 'drop'].includes(String(urls.html_extension_style)) ? '' : '.html';
  const locate = ({ path }: { path: string }): PageLocation | null => locationOf(path, components);
  return {
    name: 'Antora',
    navigation: navigationOf(files, components),
    settings: { components, suffix },
    suffix,
    locate,
    includes: {
      asciidoc: asciidocIncludes((target, from) => {
        const file = fileNamed(target, { from, components });
        return file === null ? [] : [file];
      }),
    },
    prepare: (text, { path }) =>
      text.replace(/xref:([^[\]\s]{1,500})\[([^\]\n]{0,500})\]/g, (whole, target: string, words: string) => {
        const file = fileNamed(target, { from: path, components, isPage: true });
        const page = file === null ? null : locate({ path: file });
        // the component is not part of this site; without a component, it may be a page in the same folder, or an
        // anchor
        if (page === null) return /[:$@]/.test(target) ? words || nameOf(target) : whole;
        const anchor = /#.*/.exec(target)?.[0] ?? '';
        const shown = words || nameOf(page.path);
        return `link:/${page.path}${anchor}[${shown}]`;
      }),
    attributesOf: (path) => attributesOf(path, components),
  };
}

function nameOf(path: string): string {
  return posix
    .basename(path.replace(/#.*/, ''), '.adoc')
    .replace(/^.*[:$]/, '')
    .replaceAll('-', ' ');
}

function componentOf(value: Record<string, unknown>, { name, folder }: { name: string; folder: string }): Component {
  const asciidoc = isRecord(value.asciidoc) && isRecord(value.asciidoc.attributes) ? value.asciidoc.attributes : {};
  const version = value.version === '~' ? null : (textOf(value.version) ?? null);
  const attributes = Object.entries(asciidoc)
    .slice(0, 1_000)
    .flatMap(([key, text]): [string, string][] =>
      typeof text === 'string' || typeof text === 'number'
        ? [[key, String(text).slice(0, 2_000).replace(/@$/, '')]]
        : [],
    );
  return {
    folder,
    name,
    version,
    attributes: {
      ...Object.fromEntries(attributes),
      'page-component-name': name,
      'page-component-title': textOf(value.title) ?? name,
      'page-component-version': version ?? '',
      'page-component-display-version': textOf(value.display_version) ?? version ?? '',
    },
    lists: (Array.isArray(value.nav) ? value.nav : []).map(String).slice(0, 200),
  };
}

interface Located {
  component: Component;
  module: string;
  family: string;
  rest: string;
}

function locate(path: string, components: Component[]): Located | null {
  const component = components.findLast(({ folder }) => path.startsWith(folder));
  const [modules, module = '', family = '', ...rest] = path.slice(component?.folder.length ?? 0).split('/');
  if (component === undefined || modules !== 'modules' || rest.length === 0) return null;
  return { component, module, family, rest: rest.join('/') };
}

function locationOf(path: string, components: Component[]): PageLocation | null {
  const located = locate(path, components);
  if (located === null || located.family !== 'pages' || !/\.(?:adoc|asciidoc)$/i.test(path)) return null;
  const { component, module, rest } = located;
  if (rest.split('/').some((segment) => /^[_.]/.test(segment))) return null;
  const parts = [component.name, component.version ?? '', module].map((part) => (part === 'ROOT' ? '' : part));
  return { path: addressOf(...parts, pathOf(rest)), version: component.version ?? undefined };
}

/** Returns the file that a resource id names from another file; the newest component comes first. */
function fileNamed(
  target: string,
  { from, components, isPage = false }: { from: string; components: Component[]; isPage?: boolean },
): string | null {
  const here = locate(from, components);
  const filled = target.replace(/\{(partial|example|attachment)sdir\}\//, '$1$');
  const [, version, first, second, family, name = ''] = resource.exec(filled) ?? [];
  if (here === null || name === '') return null;
  const names = second === undefined ? { component: undefined, module: first } : { component: first, module: second };
  const component = components.find(
    (one) =>
      one.name === (names.component || here.component.name) && (version === undefined || one.version === version),
  );
  if (family === undefined && first === undefined && !isPage)
    return posix.normalize(posix.join(posix.dirname(from), name));
  const base = second === undefined && version === undefined ? here.component : component;
  if (base === undefined) return null;
  const folder = families[family === undefined || !isFamily(family) ? 'page' : family];
  const file = /\.\w+$/.test(name) ? name : `${name}.adoc`;
  const inPages = isPage && /^\.\.?\//.test(file) ? posix.join(posix.dirname(here.rest), file) : file;
  return posix.normalize(
    `${base.folder}modules/${names.module || (second === undefined ? here.module : 'ROOT')}/${folder}/${inPages}`,
  );
}

function isFamily(name: string): name is keyof typeof families {
  return name in families;
}

function attributesOf(path: string, components: Component[]): Record<string, string> {
  const located = locate(path, components);
  if (located === null) return {};
  return { ...located.component.attributes, 'page-module': located.module === 'ROOT' ? '' : located.module };
}

/** Reads the lists of pages (`nav.adoc`); a line without a link is the title of the lines below it. */
function navigationOf(files: SourceFiles, components: Component[]): Navigation {
  const entries: Navigation['entries'] = new Map();
  for (const component of components) {
    for (const list of component.lists) {
      const path = component.folder + list;
      const parents: string[] = [];
      for (const line of readConfig(files.get(path)).split('\n')) {
        const [, marks = '', content = ''] = /^(\.|\*{1,9})\s*(.*)$/s.exec(line.trim()) ?? [];
        if (marks === '') continue;
        const depth = marks === '.' ? 0 : marks.length;
        const [, target, words = ''] = /^xref:([^[\]\s]+)\[([^\]]*)\]/.exec(content) ?? [];
        parents.length = Math.min(parents.length, depth);
        if (target !== undefined) {
          const file = fileNamed(target, { from: `${posix.dirname(path)}/pages/nav`, components, isPage: true });
          const key = file === null ? null : pathOf(file);
          const groups = parents.filter((parent) => parent !== undefined && parent !== '');
          if (key !== null && !entries.has(key))
            entries.set(key, { order: entries.size, groups, isHidden: false, boost: 1 });
        }
        parents[depth] = target === undefined ? content : words;
      }
    }
  }
  return { entries, languages: [], versions: [] };
}
