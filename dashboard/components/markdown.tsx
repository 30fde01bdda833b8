import { lazy, Suspense } from 'react';
import { beginning, plain } from '../plain.ts';

const Rendered = lazy(() => import('./markdown-text.tsx').then(({ MarkdownText }) => ({ default: MarkdownText })));
const longest = 100_000;

/** Words of a model or a repository: Markdown without any HTML of theirs. */
export function Markdown({ text }: { text: string }) {
  const { shown, left } = beginning(plain(text), longest);
  return (
    <div className="markdown">
      <Suspense fallback={<p className="words">{shown.slice(0, 2_000)}</p>}>
        <Rendered text={shown} />
      </Suspense>
      {left > 0 && <p className="hint">{left.toLocaleString('en')} further characters are not shown.</p>}
    </div>
  );
}
