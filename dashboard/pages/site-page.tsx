import { useQuery } from '@tanstack/react-query';
import { Link, useLocation, useSearch } from '@tanstack/react-router';
import { pageAddress } from '../assistant/page-address.ts';
import { Loaded } from '../components/loaded.tsx';
import { Markdown } from '../components/markdown.tsx';
import { EmptyNote } from '../components/notes.tsx';
import { answerOf, api } from '../http/client.ts';
import { plain } from '../plain.ts';
import { useTitle } from '../use-title.ts';
import '../styles/job.css';
import '../styles/assistant.css';

/** Shows a page of a site as it was indexed. Links lead here when the site's published URL is not set. */
export function SitePage() {
  const { site, path } = useSearch({ from: '/playground/page' });
  useTitle(path ?? 'A page');
  if (site === undefined || path === undefined) return <EmptyNote title="No page in this address" />;
  return <Text domain={site} path={path} />;
}

function Text({ domain, path }: { domain: string; path: string }) {
  const anchor = useLocation({ select: ({ hash }) => hash });
  const page = useQuery({
    queryKey: ['page', domain, path],
    queryFn: () => answerOf(api.POST('/discovery/v1/page/{domain}', { params: { path: { domain } }, body: { path } })),
  });
  return (
    <>
      <div className="page-head">
        <h1 className="reader-text">{plain(path)}</h1>
        <Link className="button push" to="/playground" search={{ site: domain }}>
          Ask {domain}
        </Link>
      </div>
      <p className="quiet">
        This is the page as it was indexed. To link to the published page instead, set the published URL in{' '}
        <Link to="/settings/$part" params={{ part: 'sites' }}>
          the settings of the site
        </Link>
        .
      </p>
      <Loaded query={page} problem="The page could not be shown">
        {({ path: found, content }) => (
          <article className="indexed-page">
            <Markdown text={content} resolve={(address) => pageAddress(domain, address, found)} anchor={anchor} />
          </article>
        )}
      </Loaded>
    </>
  );
}
