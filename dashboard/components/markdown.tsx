import { lazy, Suspense } from 'react';
import { beginning, plain } from '../plain.ts';
import type { ResolveLink } from './markdown-text.tsx';

const Rendered = lazy(() => import('./markdown-text.tsx').then(({ MarkdownText }) => ({ default: MarkdownText })));
const longest = 100_000;

interface MarkdownProps {
  text: string;
  /** Resolves links without a host. Without it, they lead nowhere. */
  resolve?: ResolveLink | undefined;
  /** Anchor of the heading to scroll to. */
  anchor?: string | undefined;
}

/** Renders text of a model or a repository as Markdown, without its HTML. */
export function Markdown({ text, resolve, anchor }: MarkdownProps) {
  const { shown, left } = beginning(plain(text), longest);
  return (
    <div className="markdown">
      <Suspense fallback={<p className="words">{shown.slice(0, 2_000)}</p>}>
        <Rendered text={shown} resolve={resolve} anchor={anchor} />
      </Suspense>
      {left > 0 && <p className="hint">{left.toLocaleString('en')} more characters not shown.</p>}
    </div>
  );
}
