import { lazy, Suspense } from 'react';
import { beginning, plain } from '../plain.ts';
import type { ResolveLink } from './markdown-text.tsx';

const Rendered = lazy(() => import('./markdown-text.tsx').then(({ MarkdownText }) => ({ default: MarkdownText })));
const longest = 100_000;

interface MarkdownProps {
  text: string;
  /** Where links without a host lead; without it nowhere. */
  resolve?: ResolveLink | undefined;
  /** The heading that is brought into sight. */
  anchor?: string | undefined;
}

/** Words of a model or a repository: Markdown without any HTML of theirs. */
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
