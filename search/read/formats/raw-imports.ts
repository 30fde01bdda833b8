import { posix } from 'node:path';
import type { IncludeSyntax } from './includes.ts';
import { codeBlock } from './selection.ts';

const maxImports = 50;
/** `import Example from '!!raw-loader!./example.js'` of Docusaurus, or `'./example.js?raw'` of Vite. */
const rawImport =
  /^import\s+([A-Za-z]\w{0,80})\s+from\s+["'](?:!!raw-loader!([^"'\n]{1,300})|([^"'\n]{1,300})\?raw)["']/gm;

/** MDX: a component that shows the text of an imported file becomes a code block with it. */
export const rawImports: IncludeSyntax = {
  rewrite(page) {
    let text = page;
    for (const [, name = '', loaded, raw = ''] of [...page.slice(0, 20_000).matchAll(rawImport)].slice(0, maxImports)) {
      const use = new RegExp(
        `<(\\w{1,40})\\b([^<>]{0,500})>\\s{0,50}\\{\\s{0,50}${name}\\s{0,50}\\}\\s{0,50}</\\1>|<\\w{1,40}\\s([^<>{}]{0,500})\\bcode=\\{${name}\\}([^<>]{0,500})/>`,
        'g',
      );
      text = text.replace(use, (_use, _tag, inside = '', before = '', after = '') => {
        const language = /\blang(?:uage)?=["']([\w-]{1,40})["']/.exec(`${inside} ${before} ${after}`)?.[1] ?? '';
        return `\n<!--raw ${loaded ?? raw} ${language}-->\n`;
      });
    }
    return text;
  },
  pattern: /^<!--raw (?<target>\S+) (?<language>[\w-]*)-->$/gm,
  resolve: (target, from) => [
    target.startsWith('.')
      ? posix.normalize(posix.join(posix.dirname(from), target))
      : target.replace(/^(?:@site)?\/+/, ''),
  ],
  isCode: () => true,
  adapt: (text, { groups = {} }) =>
    codeBlock(text.trimEnd().split(/\r?\n/), groups.language || posix.extname(groups.target ?? '').slice(1)),
};
