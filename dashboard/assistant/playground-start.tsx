import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { plural } from '../format.ts';
import { answerOf, api } from '../http/client.ts';

/** Explains the playground before the first question. */
export function PlaygroundStart({ domain }: { domain: string }) {
  const site = useQuery({
    queryKey: ['site', domain],
    refetchInterval: ({ state: { data } }) => (data?.index.version === null ? 2_000 : false),
    queryFn: () => answerOf(api.GET('/v1/sites/{domain}', { params: { path: { domain } } })),
  });
  return (
    <section className="playground-start" aria-labelledby="playground-start">
      <h2 id="playground-start">
        Ask the assistant of <code>{domain}</code>
      </h2>
      {/* takes its place before it is known */}
      <p style={{ visibility: site.isPending ? 'hidden' : undefined }}>
        It gives the same answers as on your website, from the{' '}
        {typeof site.data?.index.pages === 'number' ? plural(site.data.index.pages, 'page') : 'pages'} of this site,
        with sources. The passages found for your question are listed with their scores.
      </p>
      {site.data?.index.version === null && <p>The site is not indexed yet, so it has no answers.</p>}
      {site.data?.starterQuestions.length === 0 && (
        <p className="quiet">
          Starter questions of the site appear here and in the chat on your website.{' '}
          <Link to="/settings/$part" params={{ part: 'sites' }}>
            Add some in the settings
          </Link>
          .
        </p>
      )}
    </section>
  );
}
