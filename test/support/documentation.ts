import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const checkout = resolve(import.meta.dirname, '../..');

/** Pages of the documentation, relative to `docs`. */
export const pages = readdirSync(join(checkout, 'docs'), { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.md'),
);
/** Every document, relative to the checkout. */
export const documents = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', ...pages.map((page) => `docs/${page}`).sort()];

export function readDocument(file: string): string {
  return readFileSync(join(checkout, file), 'utf8');
}

export interface Block {
  file: string;
  line: number;
  language: string;
  text: string;
}

/** Returns the fenced code blocks of a document, those of lists without their indentation. */
export function blocksOf(file: string): Block[] {
  const page = readDocument(file);
  return [...page.matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```/gm)].map((match) => {
    const [, indentation = '', language = '', text = ''] = match;
    const line = page.slice(0, match.index).split('\n').length + 1;
    return { file, line, language, text: text.replaceAll(new RegExp(`^${indentation}`, 'gm'), '') };
  });
}
