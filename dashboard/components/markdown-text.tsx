import type { Nodes } from 'hast';
import type { Root } from 'mdast';
import { useEffect, useRef, type ReactNode } from 'react';
import ReactMarkdown from 'react-markdown';
import rehypeSanitize from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import { Copy } from './copy.tsx';

/** Resolves a link without a host. Returns null for a link that leads nowhere. */
export type ResolveLink = (address: string) => string | null;

interface MarkdownTextProps {
  text: string;
  resolve: ResolveLink | undefined;
  /** Anchor of the heading to scroll to, in GitHub's format. */
  anchor: string | undefined;
}

/** Renders Markdown. Images become links, so that no address from a model is loaded. Links open in a new tab. */
export function MarkdownText({ text, resolve, anchor }: MarkdownTextProps) {
  const container = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const headings = container.current?.querySelectorAll('h3, h4, h5, h6') ?? [];
    const heading = [...headings].find(({ textContent }) => anchorOf(textContent) === anchor);
    heading?.setAttribute('data-sought', '');
    heading?.scrollIntoView({ block: 'start' });
  }, [text, anchor]);
  return (
    <div ref={container}>
      <ReactMarkdown
        remarkPlugins={[remarkGfm, nameAlerts]}
        rehypePlugins={[rehypeSanitize]}
        components={{
          a: ({ href, children }) => (
            <Away address={href} resolve={resolve}>
              {children}
            </Away>
          ),
          img: ({ alt, src }) => (
            <Away address={typeof src === 'string' ? src : undefined} resolve={resolve}>
              {alt || 'image'}
            </Away>
          ),
          h1: ({ children }) => <h3>{children}</h3>,
          h2: ({ children }) => <h3>{children}</h3>,
          pre: ({ children, node }) => (
            <div className="code-block">
              <pre tabIndex={0}>{children}</pre>
              <Copy label="code" text={textOf(node).replace(/\n$/, '')} />
            </div>
          ),
        }}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
}

/** Gives an alert of a forge, a quotation that begins with `[!WARNING]`, its name in words. */
function nameAlerts() {
  return ({ children }: Root): void => {
    for (const node of children) {
      const [paragraph] = node.type === 'blockquote' ? node.children : [];
      const [text] = paragraph?.type === 'paragraph' ? paragraph.children : [];
      const marker = text?.type === 'text' ? /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s+/.exec(text.value) : null;
      if (paragraph?.type !== 'paragraph' || text?.type !== 'text' || marker === null) continue;
      const [whole, kind = ''] = marker;
      text.value = text.value.slice(whole.length);
      const name = `${kind.charAt(0)}${kind.slice(1).toLowerCase()}`;
      paragraph.children.unshift(
        { type: 'strong', children: [{ type: 'text', value: name }] },
        { type: 'text', value: ': ' },
      );
    }
  };
}

function textOf(node: Nodes | undefined): string {
  if (node === undefined) return '';
  if ('children' in node) return node.children.map(textOf).join('');
  return node.type === 'text' ? node.value : '';
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}

interface AwayProps {
  address: string | undefined;
  resolve: ResolveLink | undefined;
  children: ReactNode;
}

/** Shows a link. If the address does not resolve, only its text remains. */
function Away({ address = '', resolve, children }: AwayProps) {
  const isWhole = /^(?:https?|mailto):/i.test(address);
  const href = isWhole ? address : (resolve?.(address) ?? null);
  if (href === null) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
