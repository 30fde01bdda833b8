import { useCallback } from 'react';
import { Markdown } from '../components/markdown.tsx';
import { plain } from '../plain.ts';
import { pageAddress } from './page-address.ts';

interface SiteMarkdownProps {
  domain: string;
  text: string;
  /** Path of the page that contains the text. */
  from?: string;
  /** Heading to scroll to. */
  anchor?: string;
}

/** Renders Markdown about or from a site. Links without a host lead to the page as it was indexed. */
export function SiteMarkdown({ domain, text, from, anchor }: SiteMarkdownProps) {
  const resolve = useCallback((address: string) => pageAddress(domain, address, from), [domain, from]);
  return <Markdown text={text} resolve={resolve} anchor={anchor} />;
}

interface Source {
  url: string;
  title: string;
}

/** Shows the sources of an answer as cards that link to them. */
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
