import { useEffect, useState } from 'react';
import { highlighted, hrefOf, passageOfSource } from '../addresses.ts';
import type { Passage, Source } from '../client.ts';
import { firstParagraph } from './markdown-tree.ts';
import { PageLink, type LinkTarget } from './page-link.tsx';

interface SourceCardsProps {
  sources: Source[];
  label: string;
  target: LinkTarget;
  question: string;
  /** Finds the passages that the cards quote and their links highlight; null for cards without. */
  search: ((question: string) => Promise<Passage[]>) | null;
}

/** Shows the sources of an answer as cards. A card links to its passage, which the browser highlights. */
export function SourceCards({ sources, label, target, question, search }: SourceCardsProps) {
  const [passages, setPassages] = useState<Passage[]>([]);
  const hasSources = sources.length > 0;
  useEffect(() => {
    if (search === null || !hasSources) return;
    let isGone = false;
    search(question).then(
      (found) => {
        if (!isGone) setPassages(found);
      },
      // cards without a quotation still lead to their page
      () => {},
    );
    return () => {
      isGone = true;
    };
  }, [search, question, hasSources]);
  if (!hasSources) return null;
  return (
    <ul className="docket-sources" aria-label={label}>
      {sources.map((source) => (
        <li key={source.url}>
          <SourceCard source={source} passages={passages} target={target} />
        </li>
      ))}
    </ul>
  );
}

function SourceCard({ source, passages, target }: { source: Source; passages: Passage[]; target: LinkTarget }) {
  const href = hrefOf(source.url, target.pagesUrl);
  const passage = href === null ? null : passageOfSource(href, passages);
  const excerpt = passage === null ? null : firstParagraph(passage.content, 3);
  return (
    <PageLink
      address={source.url}
      target={target}
      className="docket-source"
      refine={(safe) => (passage === null ? safe : highlighted(safe, passage.content))}
    >
      <span className="docket-source-title" dir="auto">
        {source.title}
      </span>
      {excerpt !== null && (
        <span className="docket-quiet docket-excerpt" dir="auto">
          {excerpt}
        </span>
      )}
    </PageLink>
  );
}
