import { parseFragment, type DefaultTreeAdapterMap } from 'parse5';
import { createElement, type ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { PassageList } from '../../../dashboard/assistant/passage-list.tsx';
import { MarkdownText } from '../../../dashboard/components/markdown-text.tsx';
import { AnswerMarkdown } from '../../../dashboard/widget/answer/answer-markdown.tsx';
import { defaultLabels } from '../../../dashboard/widget/labels.ts';
import { createRandom } from '../../suites/chaos/plans/random.ts';
import { brokenDocument } from '../../suites/fuzz/links/documents.ts';
import { propertyRuns } from '../../support/properties.ts';

type Node = DefaultTreeAdapterMap['node'];
type Element = DefaultTreeAdapterMap['element'];

const hostile = [
  '![x](https://evil.example/p?q=1)',
  '<img src="https://evil.example/p">',
  '<meta http-equiv="refresh" content="0;url=https://evil.example">',
  '<svg><image xlink:href="https://evil.example/p" /></svg>',
  '[x](javascript:alert(1)) [y](data:text/html,x) [z](//evil.example/x)',
  '<a href="https://evil.example" onclick="alert(1)" style="background:url(https://evil.example)">x</a>',
  '<form action="https://evil.example"><button>x</button></form>',
];
const random = createRandom(7);
const texts = [...hostile, ...Array.from({ length: propertyRuns(500) }, () => brokenDocument(random))];

const attribute = (element: Element, name: string) => element.attrs.find((one) => one.name === name)?.value;

/** Returns the elements that a text was rendered to, without the button that copies code. */
function elementsOf(markup: ReactNode): Element[] {
  const found: Element[] = [];
  const walk = (node: Node): void => {
    if ('tagName' in node && node.tagName === 'button' && attribute(node, 'class') === 'copy') return;
    if ('tagName' in node) found.push(node);
    if ('childNodes' in node) node.childNodes.forEach(walk);
  };
  walk(parseFragment(renderToStaticMarkup(markup)));
  return found;
}

const resolve = () => null;
const renderings: [string, (text: string) => ReactNode][] = [
  ['pages', (text) => createElement(MarkdownText, { text, resolve: undefined, anchor: undefined })],
  [
    'answers',
    (text) =>
      createElement(AnswerMarkdown, {
        text,
        target: { pagesUrl: 'https://docs.example/', resolve },
        labels: defaultLabels,
      }),
  ],
];

it.each(renderings)('loads and runs nothing for stored %s, whatever they contain', (_, render) => {
  const quiet = /^(?:id|class|href|target|rel|align|checked|disabled|type|start|title|cite|data-[\w-]+|aria-[\w-]+|tabindex|open|span|colspan|rowspan|datetime|width|height|itemprop|name|label|for|dir|lang|role|alt|color|abbr|scope|headers|value)$/; // prettier-ignore
  const active = [
    'img',
    'image',
    'svg',
    'iframe',
    'meta',
    'style',
    'script',
    'form',
    'object',
    'video',
    'base',
    'link',
  ];
  const isLoud = ({ name, value }: Element['attrs'][number]) =>
    !quiet.test(name) && (name !== 'style' || !/^text-align:\w+$/.test(value));
  const isBadLink = (element: Element) => {
    const href = attribute(element, 'href');
    if (href === undefined) return false;
    return !/^(?:https?|mailto):/i.test(href) || attribute(element, 'rel') !== 'noopener noreferrer nofollow';
  };
  const elements = texts.flatMap((text) => elementsOf(render(text)));
  expect(elements.length).toBeGreaterThan(texts.length);
  expect(elements.filter((one) => active.includes(one.tagName) || one.attrs.some(isLoud) || isBadLink(one))).toEqual(
    [],
  );
});

it('shows passages as text, with no link except to their page', () => {
  const data = texts.slice(0, 200).map((content, at) => ({
    path: `page-${at}`,
    anchor: null,
    headings: [content.slice(0, 80)],
    content,
    score: 1,
  }));
  const search = { isIdle: false, isPending: false, error: null, data };
  const elements = elementsOf(createElement(PassageList, { domain: 'docs', search }));
  const names = new Set(elements.map(({ tagName }) => tagName));
  expect([...names].toSorted()).toEqual(['a', 'aside', 'code', 'details', 'h2', 'meter', 'p', 'span', 'summary']);
  const links = elements.filter(({ tagName }) => tagName === 'a').map((link) => attribute(link, 'href'));
  expect(links).toEqual(data.map(({ path }) => `/playground/page?site=docs&path=${path}`));
});
