import type { Definition, Nodes } from 'mdast';
import { Fragment, memo, type ReactNode } from 'react';
import { highlighted } from '../addresses.ts';
import { CopyButton } from './copy-button.tsx';
import { definitionsOf, parseMarkdown, plainTextOf } from './markdown-tree.ts';
import { PageLink, type LinkTarget } from './page-link.tsx';
import type { Mark, Source } from './answer-events.ts';
import type { Labels } from '../labels.ts';

interface AnswerMarkdownProps {
  text: string;
  /** The passages behind its sentences, and facts that its sources do not contain. */
  marks?: Mark[];
  /** Pages in the order in which marks number them. */
  sources?: Source[];
  target: LinkTarget;
  labels: Labels;
}

interface Rendering extends Omit<AnswerMarkdownProps, 'text' | 'marks' | 'sources'> {
  marks: PlacedMark[];
  /** Addresses of the pages, in the order of their numbers. */
  pages: string[];
  definitions: Map<string, Definition>;
}

/** A mark with the position of its sentence in the text. */
interface PlacedMark extends Omit<Mark, 'text'> {
  start: number;
  end: number;
}

/** Deeper nesting is shown as text. */
const maxDepth = 30;
const maxLength = 100_000;
const noMarks: Mark[] = [];
const noSources: Source[] = [];
const headings = ['h3', 'h3', 'h4', 'h5', 'h6', 'h6'] as const;

/** Renders the Markdown of an answer as elements. HTML stays text, and images become links, so nothing is loaded. */
export const AnswerMarkdown = memo(function AnswerMarkdown({
  text,
  marks = noMarks,
  sources = noSources,
  target,
  labels,
}: AnswerMarkdownProps) {
  const root = parseMarkdown(text.slice(0, maxLength));
  return (
    <div className="docket-markdown" dir="auto">
      {contentOf(
        root,
        {
          target,
          labels,
          definitions: definitionsOf(root),
          marks: placed(marks, text),
          pages: pagesOf(sources, marks),
        },
        0,
      )}
    </div>
  );
});

function contentOf(node: Nodes, rendering: Rendering, depth: number, isHeader = false): ReactNode {
  if (depth > maxDepth) return plainTextOf(node);
  if (!('children' in node)) return null;
  const cites = node.type === 'paragraph' || (node.type === 'tableCell' && !isHeader);
  const all: Nodes[] = node.children;
  const children = cites ? all.flatMap((child) => sentencesIn(child, rendering.marks)) : all;
  return children.map((child, index) => (
    <Fragment key={index}>
      <Node
        node={child}
        rendering={rendering}
        depth={depth + 1}
        isHeader={node.type === 'table' ? index === 0 : isHeader}
      />
      {cites && (
        <Citations
          from={startOf(index === 0 ? node : child)}
          to={endOf(index === children.length - 1 ? node : child)}
          rendering={rendering}
        />
      )}
    </Fragment>
  ));
}

interface NodeProps {
  node: Nodes;
  rendering: Rendering;
  depth: number;
  /** Whether the node is in the first row of a table. */
  isHeader: boolean;
}

function Node({ node, rendering, depth, isHeader }: NodeProps): ReactNode {
  const content = contentOf(node, rendering, depth, isHeader);
  const link = (address: string | undefined, text: ReactNode) => (
    <PageLink address={address ?? ''} target={rendering.target}>
      {text}
    </PageLink>
  );
  switch (node.type) {
    case 'text':
    case 'html':
      return marked(node, rendering);
    case 'paragraph':
      return <p>{content}</p>;
    case 'heading': {
      const Heading = headings[node.depth - 1] ?? 'h6';
      return <Heading>{content}</Heading>;
    }
    case 'emphasis':
      return <em>{content}</em>;
    case 'strong':
      return <strong>{content}</strong>;
    case 'inlineCode':
      return <code dir="ltr">{marked(node, rendering)}</code>;
    case 'code':
      return (
        <div className="docket-code">
          <pre dir="ltr" tabIndex={0}>
            <code>{marked(node, rendering)}</code>
          </pre>
          <CopyButton text={node.value} label={rendering.labels.copyCode} copied={rendering.labels.copied} />
        </div>
      );
    case 'list':
      return node.ordered ? <ol start={node.start ?? 1}>{content}</ol> : <ul>{content}</ul>;
    case 'listItem':
      return <li>{content}</li>;
    case 'blockquote':
      return <blockquote>{content}</blockquote>;
    case 'thematicBreak':
      return <hr />;
    case 'break':
      return <br />;
    case 'link':
      return link(node.url, content);
    case 'linkReference':
      return link(rendering.definitions.get(node.identifier)?.url, content);
    case 'image':
      return link(node.url, node.alt || node.url);
    case 'imageReference':
      return link(rendering.definitions.get(node.identifier)?.url, node.alt || node.identifier);
    case 'table':
      return (
        <div className="docket-table" role="group" aria-label={rendering.labels.table} tabIndex={0}>
          <table>
            <tbody>{content}</tbody>
          </table>
        </div>
      );
    case 'tableRow':
      return <tr>{content}</tr>;
    case 'tableCell':
      return isHeader ? <th scope="col">{content}</th> : <td>{content}</td>;
    default:
      return content;
  }
}

/** Links the sentences that end in a part of the text to their passages. */
function Citations({ from, to, rendering }: { from: number; to: number; rendering: Rendering }): ReactNode {
  const { marks, pages, target, labels } = rendering;
  return marks.flatMap(({ passages, end }) => {
    if (end <= from || end > to) return [];
    return passages.map(({ url, title, quote }, index) => {
      const number = pages.indexOf(pageOf(url)) + 1;
      return (
        <PageLink
          key={`${end}-${index}`}
          address={url}
          target={target}
          className="docket-citation"
          label={`${number}. ${labels.passage}: ${title}`}
          refine={(href) => (quote === null ? href : highlighted(href, quote))}
        >
          {number}
        </PageLink>
      );
    });
  });
}

/** Splits a text where sentences end in it. One with escapes stays whole, because its offsets are not those of the answer. */
function sentencesIn(node: Nodes, marks: PlacedMark[]): Nodes[] {
  const [from, to] = [startOf(node), endOf(node)];
  if (node.type !== 'text' || node.position === undefined || node.value.length !== to - from) return [node];
  const { position, value } = node;
  const ends = marks.flatMap(({ end }) => (end > from && end < to ? [end] : []));
  return [...ends, to].map((end, index) => {
    const start = ends[index - 1] ?? from;
    return {
      ...node,
      value: value.slice(start - from, end - from),
      position: { start: { ...position.start, offset: start }, end: { ...position.end, offset: end } },
    };
  });
}

function startOf({ position }: Nodes): number {
  return position?.start.offset ?? 0;
}

function endOf({ position }: Nodes): number {
  return position?.end.offset ?? 0;
}

function pagesOf(sources: Source[], marks: Mark[]): string[] {
  const cited = marks.flatMap(({ passages }) => passages.map(({ url }) => url));
  return [...new Set([...sources.map(({ url }) => url), ...cited].map(pageOf))];
}

function pageOf(url: string): string {
  return url.split('#', 1)[0] ?? '';
}

function placed(marks: Mark[], text: string): PlacedMark[] {
  let from = 0;
  return marks.flatMap(({ text: sentence, ...mark }) => {
    const start = text.indexOf(sentence, from);
    if (start < 0) return [];
    from = start + sentence.length;
    return [{ ...mark, start, end: from }];
  });
}

/** Returns the value of a node, with unsupported words marked. */
function marked(node: Nodes & { value: string }, { marks, labels }: Rendering): ReactNode {
  const { value } = node;
  const [start, end] = [startOf(node), endOf(node)];
  const facts = marks.flatMap((mark) => (mark.start < end && start < mark.end ? mark.unsupported : []));
  const found = facts
    .filter((fact) => value.includes(fact))
    .map((fact) => fact.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  if (found.length === 0) return value;
  const parts = value.split(new RegExp(`(?<![\\p{L}\\p{N}_])(${found.join('|')})(?![\\p{L}\\p{N}_])`, 'u'));
  return parts.map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <mark key={index} className="docket-unsupported" title={labels.unsupported}>
        {part}
      </mark>
    ),
  );
}
