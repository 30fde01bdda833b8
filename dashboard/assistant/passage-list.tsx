import { Loading } from '../components/notes.tsx';
import { messageOf } from '../http/client.ts';
import { beginning, plain } from '../plain.ts';
import { pageAddress } from './page-address.ts';
import type { Passage } from './passages.ts';

interface PassageListProps {
  domain: string;
  search: { isIdle: boolean; isPending: boolean; error: unknown; data: Passage[] | undefined };
}

/** Lists the search results for a question, best first, with their scores. */
export function PassageList({ domain, search }: PassageListProps) {
  const topScore = Math.max(1, ...(search.data ?? []).map(({ score }) => score ?? 0));
  return (
    <aside className="passages" aria-label="Retrieved passages">
      <h2>Retrieved passages</h2>
      {search.isIdle && <p className="quiet">The passages retrieved for a question appear here with their scores.</p>}
      {!search.isIdle && search.isPending && <Loading what="Searching…" />}
      {search.error !== null && <p className="field-error">{messageOf(search.error)}</p>}
      {search.data?.length === 0 && <p className="quiet">No passages found.</p>}
      {search.data?.map((passage) => (
        <PassageCard
          key={`${passage.path}#${passage.anchor ?? ''}${passage.content.slice(0, 40)}`}
          domain={domain}
          passage={passage}
          topScore={topScore}
        />
      ))}
    </aside>
  );
}

function PassageCard({ domain, passage, topScore }: { domain: string; passage: Passage; topScore: number }) {
  const { path, anchor, headings, content, score } = passage;
  const { shown, left } = beginning(plain(content), 600);
  const page = pageAddress(domain, `/${path}${anchor === null ? '' : `#${anchor}`}`);
  return (
    <details className="passage">
      <summary>
        <span className="passage-title">{plain(headings.join(' › ') || path)}</span>
        {score !== null && <span className="passage-score">{score.toFixed(2)}</span>}
        <code className="quiet passage-path">{plain(path)}</code>
        {score !== null && <meter className="passage-meter" min={0} max={topScore} value={score} aria-hidden="true" />}
      </summary>
      <p className="words">
        {shown}
        {left > 0 && '…'}
      </p>
      {page !== null && (
        <a href={page} target="_blank" rel="noopener noreferrer">
          Full page
        </a>
      )}
    </details>
  );
}
