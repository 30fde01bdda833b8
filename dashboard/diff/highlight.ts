import { markEdits, tokenize, type HunkTokens } from 'react-diff-view';
import { refractor } from 'refractor';
import type { PatchFile } from './read-patch.ts';

const languages: Record<string, string> = {
  js: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  jsx: 'javascript',
  ts: 'typescript',
  mts: 'typescript',
  tsx: 'typescript',
  json: 'json',
  md: 'markdown',
  mdx: 'markdown',
  css: 'css',
  scss: 'scss',
  html: 'markup',
  svg: 'markup',
  xml: 'markup',
  vue: 'markup',
  yml: 'yaml',
  yaml: 'yaml',
  sh: 'bash',
  bash: 'bash',
  py: 'python',
  rb: 'ruby',
  go: 'go',
  rs: 'rust',
  java: 'java',
  kt: 'kotlin',
  c: 'c',
  h: 'c',
  cc: 'cpp',
  cpp: 'cpp',
  cs: 'csharp',
  php: 'php',
  sql: 'sql',
  swift: 'swift',
  lua: 'lua',
  ini: 'ini',
  toml: 'ini',
};
const maxCharacters = 200_000;

const highlighter = {
  highlight: (text: string, language: string) => refractor.highlight(text, language).children.map(withPrefix),
};

type Node = ReturnType<typeof refractor.highlight>['children'][number];

/** Turns `token code` into `token-code`: Prism's names for syntax are also names of classes of the page. */
function withPrefix<Part extends Node>(node: Part): Part {
  if (node.type !== 'element') return node;
  const names = [node.properties['className'] ?? []].flat().filter((name) => name !== 'token');
  return {
    ...node,
    properties: { ...node.properties, className: names.map((name) => `token-${String(name)}`) },
    children: node.children.map(withPrefix),
  };
}

/**
 * Returns the syntax colors of a file's lines and the differences within changed lines, or null when that would take
 * too long.
 */
export function highlighted({ path, hunks, text }: PatchFile): HunkTokens | null {
  if (text.length > maxCharacters || hunks.length === 0) return null;
  const language = languages[path.split('.').at(-1)?.toLowerCase() ?? ''];
  const enhancers = [markEdits(hunks, { type: 'block' })];
  try {
    return language === undefined
      ? tokenize(hunks, { enhancers })
      : tokenize(hunks, { highlight: true, refractor: highlighter, language, enhancers });
  } catch {
    // a grammar that fails on a text costs its colors, not the page
    return null;
  }
}
