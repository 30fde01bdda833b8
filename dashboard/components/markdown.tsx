import { beginning, plain } from '../plain.ts';
import { MarkdownText, type ResolveLink } from './markdown-text.tsx';

const maxLength = 100_000;

interface MarkdownProps {
  text: string;
  /** Resolves links without a host. Without it, they lead nowhere. */
  resolve?: ResolveLink | undefined;
  /** Anchor of the heading to scroll to. */
  anchor?: string | undefined;
}

/** Renders text of a model or a repository as Markdown, without its HTML. */
export function Markdown({ text, resolve, anchor }: MarkdownProps) {
  const { shown, left } = beginning(plain(text), maxLength);
  return (
    <div className="markdown">
      <MarkdownText text={shown} resolve={resolve} anchor={anchor} />
      {left > 0 && <p className="hint">{left.toLocaleString('en')} more characters not shown.</p>}
    </div>
  );
}
