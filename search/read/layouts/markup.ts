/** A block of a tool's own markup: its first line, and what to write instead. */
export interface BlockSyntax {
  /** Matches the line that opens a block, without its indentation. */
  open: RegExp;
  /** Returns the block's label; empty for none. */
  label(match: RegExpExecArray): string;
  /** Matches the line that closes it. If omitted, the block is what is indented by four spaces below. */
  close?: RegExp;
  /** Matches a line of options right below the first one. */
  option?: RegExp;
}

const fence = /^\s*(`{3,}|~{3,})/;

/** Replaces blocks such as admonitions and tabs by their labels and contents, outside code. */
export function withBlocks(text: string, syntaxes: readonly BlockSyntax[]): string {
  const out: string[] = [];
  const indents: number[] = [];
  let inFence: string | null = null;
  let option: RegExp | undefined;
  for (const given of text.split('\n')) {
    const blank = given.trim() === '';
    const width = given.length - given.trimStart().length;
    if (inFence === null && !blank) while (width < (indents.at(-1) ?? 0)) indents.pop();
    const line = given.slice(Math.min(width, indents.length * 4));
    if (option?.test(line) === true) continue;
    option = undefined;
    const mark = fence.exec(line)?.[1];
    if (inFence !== null || mark !== undefined) {
      if (inFence === null) inFence = mark ?? null;
      else if (mark !== undefined && mark.startsWith(inFence)) inFence = null;
      out.push(line);
      continue;
    }
    const content = line.trim();
    const found = blank ? null : opened(content, syntaxes);
    if (found !== null) {
      if (found.label !== '') out.push('', `**${found.label}**`, '');
      if (found.close === undefined) indents.push(width + 4);
      option = found.option;
    } else if (blank || !syntaxes.some(({ close }) => close?.test(content) === true)) out.push(line);
  }
  return out.join('\n');
}

function opened(
  line: string,
  syntaxes: readonly BlockSyntax[],
): (Pick<BlockSyntax, 'close' | 'option'> & { label: string }) | null {
  for (const { open, label, close, option } of syntaxes) {
    const match = open.exec(line.slice(0, 500));
    if (match !== null) return { label: label(match).replaceAll('*', '').trim(), close, option };
  }
  return null;
}

/** Returns `Note: title` for the type and title of an admonition. */
export function labelOf(type: string, title = ''): string {
  const name = type.charAt(0).toUpperCase() + type.slice(1);
  return title === '' ? name : `${name}: ${title}`;
}

/** `:::note Title` … `:::`, as Docusaurus, VitePress and Starlight write it. */
export const colonBlock: BlockSyntax = {
  open: /^:{3,}\s*([A-Za-z][\w-]*)(?:\[(.*?)\])?\s*([^{\]]*)/,
  label: ([, type = '', bracketed = '', title = '']) => labelOf(type, bracketed || title.trim()),
  close: /^:{3,}$/,
};
