import { describe, expect, it, vi } from 'vitest';
import { chunkPage } from '../../../../search/build/chunk-page.ts';
import { anyCharacter, fc, propertyRuns } from '../../../support/properties.ts';

vi.setConfig({ testTimeout: 60_000 });

const long = (words: number) => Array.from({ length: words }, (_, at) => `word${at}`).join(' ');

function passages(content: string, title = 'Title') {
  return chunkPage(content, title).chunks.map((chunk) => ({ ...chunk, text: content.slice(chunk.start, chunk.end) }));
}

describe('chunks', () => {
  it('follow the headings and include their path and anchor', () => {
    const content = `# Title\n\n${long(30)}\n\n## Set up\n\n${long(31)}\n\n### On Linux\n\n${long(32)}\n\n## Use\n\n${long(33)}\n`;
    expect(passages(content).map(({ anchor, headings }) => ({ anchor, headings }))).toEqual([
      { anchor: null, headings: [] },
      { anchor: 'set-up', headings: ['Set up'] },
      { anchor: 'on-linux', headings: ['Set up', 'On Linux'] },
      { anchor: 'use', headings: ['Use'] },
    ]);
  });

  it('number repeated anchors and use explicit ids', () => {
    const content = '## Example\n\na\n\n## Example\n\nb\n\n## Other {#mine}\n\nc\n\n## `GET /x` & more\n\nd\n';
    expect(chunkPage(content, 'T').anchors).toEqual(['example', 'example-1', 'mine', 'get-x--more']);
  });

  it('include those of paragraphs and of tags', () => {
    const content = 'One. {#one}\n\n[Two](x){: #two .wide }\n\n<a id="three"></a>Three.\n';
    expect(chunkPage(content, 'T').anchors).toEqual(['one', 'two', 'three']);
  });

  it('of other elements do not change those of headings', () => {
    const content = `<a name=part></a>\n## Part <a id="old"></a>\n\n${long(200)} <span id="late"></span>\n`;
    expect(chunkPage(content, 'T').anchors).toEqual(['part', 'old', 'late']);
  });

  it('ignore headings inside a code fence', () => {
    const content = '## Real\n\n```sh\n# not a heading\n```\n\n~~~\n## nor this\n```\n~~~\n\nafter\n';
    expect(passages(content).map(({ headings }) => headings)).toEqual([['Real']]);
  });

  it('recognize underlined headings', () => {
    expect(passages('Intro\n=====\n\ntext\n\nPart\n----\n\nmore\n', 'Intro').map(({ anchor }) => anchor)).toEqual([
      null,
      'part',
    ]);
  });

  it('split long sections at paragraphs and keep all of the text', () => {
    const paragraphs = Array.from({ length: 20 }, (_, at) => `p${at} ${long(40)}`);
    const found = passages(`## Long\n\n${paragraphs.join('\n\n')}\n`);
    expect(found.length).toBeGreaterThan(3);
    expect(found.every(({ text, anchor }) => text.length <= 2000 && anchor === 'long')).toBe(true);
    expect(found.map(({ text }) => text).join('\n\n')).toBe(paragraphs.join('\n\n'));
    expect(found.every(({ text }) => /^p\d+ /.test(text))).toBe(true);
  });

  it('keep a code block whole that is longer than a passage', () => {
    const code = `\`\`\`ts\n${'call(something);\n'.repeat(200)}\`\`\``;
    const found = passages(`## Code\n\n${long(150)}\n\n${code}\n\n${long(150)}\n`);
    expect(found.map(({ text }) => text)).toContain(code);
    expect(found.every(({ before, after }) => before === '' && after === '')).toBe(true);
  });

  it('repeat the fence around each part of very long code', () => {
    const found = passages(`## Code\n\n~~~~ts\n${'call(something);\n'.repeat(1000)}~~~~\n\nafter\n`);
    expect(found.length).toBeGreaterThan(5);
    expect(found.at(0)).toMatchObject({ before: '', after: '\n~~~~' });
    expect(found.at(1)).toMatchObject({ before: '~~~~ts\n', after: '\n~~~~' });
    expect(found.at(-1)?.after).toBe('');
  });

  it('repeat the head of a table in each of its parts', () => {
    const head = '| Key | Default |\n| --- | ---: |\n';
    const rows = Array.from({ length: 200 }, (_, at) => `| key${at} | ${at} |\n`).join('');
    const found = passages(`## Keys\n\nAll keys:\n\n${head}${rows}\nafter\n`);
    expect(found.length).toBeGreaterThan(1);
    expect(found.slice(2).every(({ before }) => before === head)).toBe(true);
    expect(passages(`## Keys\n\na\n---\n${long(900)}\n`).every(({ before }) => before === '')).toBe(true);
  });

  it('join a section of a few words with the deeper one below it', () => {
    const found = passages(`## Parent\n\nShort.\n\n### Child\n\n${long(50)}\n`);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ anchor: 'child', headings: ['Parent', 'Child'] });
  });

  it('are in order, do not overlap and stay short for any text', () => {
    const line = fc.oneof(
      fc.constantFrom('# A', '## B', '```', '~~~', '---', '', '   ', '- x', '> q'),
      fc.string({ unit: anyCharacter, maxLength: 40 }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 40 }), fc.integer({ min: 1, max: 20 }), (lines, repeat) => {
        const content = lines.join('\n').repeat(repeat);
        const { chunks } = chunkPage(content, 'A');
        const wrong = chunks.filter(({ start, end }, at) => {
          // code is kept whole where it can be
          const longest = /```|~~~/.test(content.slice(start, end)) ? 6000 : 2000;
          return start < (chunks[at - 1]?.end ?? 0) || end < start || end - start > longest;
        });
        expect(wrong).toEqual([]);
      }),
      { numRuns: propertyRuns(60) },
    );
  });
});
