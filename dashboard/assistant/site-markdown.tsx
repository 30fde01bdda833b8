import { useCallback } from 'react';
import { Markdown } from '../components/markdown.tsx';
import { plain } from '../plain.ts';
import { pageAddress } from './page-address.ts';

interface SiteMarkdownProps {
  domain: string;
  text: string;
  /** The path of the page that the words are. */
  from?: string;
  /** The heading of it that is brought into sight. */
  anchor?: string;
}

/** Words about a site or of it: what links without a host lead to is the page as it was indexed. */
export function SiteMarkdown({ domain, text, from, anchor }: SiteMarkdownProps) {
  const resolve = useCallback((address: string) => pageAddress(domain, address, from), [domain, from]);
  return <Markdown text={text} resolve={resolve} anchor={anchor} />;
}

interface Source {
  url: string;
  title: string;
}

/** The pages an answer is from, as cards that lead to them. */
export function Sources({ domain, sources }: { domain: string; sources: Source[] }) {
  if (sources.length === 0) return null;
  return (
    <ul className="sources" aria-label="Sources">
      {sources.map(({ url, title }) => (
        <li key={url}>
          <SourceCard domain={domain} url={url} title={title} />
        </li>
      ))}
    </ul>
  );
}

function SourceCard({ domain, url, title }: Source & { domain: string }) {
  const address = /^https?:\/\//.test(url) ? url : pageAddress(domain, url);
  const inside = (
    <>
      <span className="source-title">{plain(title)}</span>
      <code className="quiet">{plain(url)}</code>
    </>
  );
  if (address === null) return <div className="source">{inside}</div>;
  return (
    <a className="source" href={address} target="_blank" rel="noopener noreferrer">
      {inside}
    </a>
  );
}
