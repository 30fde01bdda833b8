import { isRecord, textOf } from '../../front-matter.ts';
import { labelOf } from '../markup.ts';

/** The length is bounded, so that a page of openings alone takes linear time. */
const shortcode = /\{\{[<%]((?:[^{}]|\{(?!\{)){0,2000}?)[>%]\}\}/g;
const codeBlock =
  /^([ \t]*)\{\{<\s*(code-toggle|highlight|tab)\b([^{}\n]{0,500})(?<!\/)>\}\}[ \t]*\n([^]{0,5000}?)^[ \t]*\{\{<\s*\/\2\s*>\}\}[ \t]*$/gm;
const parameter = /(?:([\w-]{1,60})\s*=\s*)?(?:"([^"]*)"|`([^`]*)`|([^\s"`=]+))/g;
const note = /^(?:note|warning|tip|caution|info|important|danger|alert|callout|admonition|hint)$/;
const titles = ['title', 'label', 'name', 'header', 'caption', 'summary'];
const minorChanges: Record<string, number> = {
  currentVersion: 0,
  latestVersion: 0,
  prevMinorVersion: -1,
  nextMinorVersion: 1,
  oldestMinorVersion: -2,
};
const released: Record<string, string> = { 'new-in': 'New in', 'deprecated-in': 'Deprecated in' };

/** Values of a site that shortcodes show. */
export interface ShortcodeValues {
  params: Record<string, unknown>;
  /** Headings by their names. */
  headings: ReadonlyMap<string, string>;
}

export interface Shortcode {
  name: string;
  named: ReadonlyMap<string, string>;
  positional: string[];
}

/** Reads the inside of a shortcode; null if it is not a shortcode. */
export function shortcodeOf(inner: string): Shortcode | null {
  const words = inner.trim().replace(/\/$/, '');
  const name = /^[\w./-]+/.exec(words)?.[0];
  if (name === undefined) return null;
  const named = new Map<string, string>();
  const positional: string[] = [];
  for (const [, key, quoted, raw, bare] of words.slice(name.length).matchAll(parameter)) {
    const value = quoted ?? raw ?? bare ?? '';
    if (key === undefined) positional.push(value);
    else named.set(key, value);
  }
  return { name, named, positional };
}

/** Keeps what shortcodes show: titles, contents, code, versions and parameters of the site. */
export function withoutShortcodes(text: string, values: ShortcodeValues): string {
  return text
    .replace(/\{\{([<%])\/\*([^\n]{0,2000}?)\*\/([>%])\}\}/g, '{\u0000{$1$2$3}}')
    .replace(codeBlock, (whole, indent: string, name: string, given: string, body: string) => {
      const { named, positional } = shortcodeOf(`${name} ${given}`) ?? { named: new Map(), positional: [] };
      const language = name === 'tab' ? named.get('lang') : languageOf(positional[0], body);
      if (language === undefined) return whole;
      const title = name === 'tab' ? (named.get('header') ?? '') : '';
      const fence = body.includes('```') ? '~~~~' : '```';
      return `${title === '' ? '' : `${indent}**${title}**\n\n`}${indent}${fence}${language}\n${body}${indent}${fence}`;
    })
    .replace(shortcode, (whole, inner: string) => {
      if (inner.trim().startsWith('/')) return '';
      const found = shortcodeOf(inner);
      return found === null ? whole : shownOf(found, values);
    })
    .replaceAll('{\u0000{', '{{');
}

function languageOf(stated: string | undefined, body: string): string {
  return stated ?? (/^\s*(?:[\w.-]+[ \t]*=|\[)/.test(body) ? 'toml' : 'yaml');
}

function shownOf({ name, named, positional }: Shortcode, { params, headings }: ShortcodeValues): string {
  const [first = ''] = positional;
  if (name === 'ref' || name === 'relref') return first || (named.get('path') ?? '');
  if (name === 'param' || name === '_param') return paramOf(first, params);
  if (name === 'skew') return versionOf(positional, params);
  if (name === 'latest-version') return paramOf('latest', params);
  if (name === 'heading') return headings.get(first) ?? first.charAt(0).toUpperCase() + first.slice(1);
  if (name === 'feature-state') return `**${featureState(named)}**`;
  const release = released[name];
  if (release !== undefined) return `**${release} v${first.replace(/^v/i, '')}**`;
  const text = named.get('text') ?? named.get('term_id');
  if (text !== undefined) return text;
  const title =
    titles.map((key) => named.get(key)).find((value) => value !== undefined) ??
    (/^(?:tab|details)$/i.test(name) ? first : '');
  if (/^(?:img|figure)$/.test(name)) {
    const image = named.get('src') ?? '';
    const words = [named.get('alt') ?? '', title].filter((each, at, all) => each !== '' && all.indexOf(each) === at);
    return /^[^\s()]+$/.test(image) ? `![${words.join(': ')}](${image})` : words.join(': ');
  }
  if (note.test(name))
    return `**${labelOf(/^(?:alert|callout|admonition|hint)$/.test(name) && first !== '' ? first : name, title)}**\n\n`;
  return title === '' ? '' : `**${title}**\n\n`;
}

function featureState(named: ReadonlyMap<string, string>): string {
  const version = named.get('for_k8s_version');
  const state = named.get('state') ?? named.get('feature_gate_name') ?? '';
  return version === undefined ? `Feature state: ${state}` : `Feature state: ${version} [${state}]`;
}

function paramOf(name: string, params: Record<string, unknown>): string {
  const value = name.split('.').reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), params);
  return typeof value === 'number' ? String(value) : (textOf(value)?.slice(0, 500) ?? '');
}

/** Returns a version near that of the documentation or the latest one, such as `currentVersionAddMinor -1`. */
function versionOf([kind = '', by = '0']: string[], params: Record<string, unknown>): string {
  const version = paramOf(kind.startsWith('current') ? 'version' : 'latest', params);
  const [, major = '', minor = ''] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  const change = kind.endsWith('AddMinor') ? Number(by) : minorChanges[kind];
  return major === '' || change === undefined || !Number.isInteger(change) ? '' : `${major}.${Number(minor) + change}`;
}
