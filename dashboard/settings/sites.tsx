import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Button } from 'react-aria-components';
import { Only, useMay } from '../components/session.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Problem } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { LongList } from '../components/long-list.tsx';
import { Ago } from '../components/time.tsx';
import { plural } from '../format.ts';
import { allPages } from '../http/all-pages.ts';
import { answerOf, api, done } from '../http/client.ts';
import type { Site } from '../http/types.ts';
import { queryClient, sessionQuery } from '../queries.ts';
import { SiteForm } from './site-form.tsx';
import { SiteSourcesForm } from './site-sources-form.tsx';

const queryKey = ['sites'];

async function refresh(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey });
  await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
}

async function readSites() {
  const pages = await allPages((query) => answerOf(api.GET('/v1/sites', { params: { query } })));
  return { sites: pages.flatMap((page) => page.sites) };
}

/** Shows the sites whose pages the assistant answers from. */
export function SitesPage() {
  const sites = useQuery({
    queryKey,
    queryFn: readSites,
    refetchInterval: ({ state }) => (state.data?.sites.some(isBeingIndexed) === true ? 1_500 : false),
  });
  return (
    <Loaded query={sites} problem="Sites could not be loaded">
      {({ sites }) => (
        <>
          <LongList items={sites} what="sites" textOf={({ domain }) => domain}>
            {(shown) => shown.map((site) => <SiteCard key={site.id} site={site} />)}
          </LongList>
          <Only role="admin">
            <details className="panel">
              <summary>New site</summary>
              <SiteForm site={null} onSaved={refresh} />
            </details>
          </Only>
        </>
      )}
    </Loaded>
  );
}

function isBeingIndexed({ index }: Site): boolean {
  return index.requestedAt !== null;
}

function SiteCard({ site }: { site: Site }) {
  const { domain, index } = site;
  const path = { domain };
  const may = useMay('member');
  const reindex = useMutation({
    mutationFn: (force: boolean) =>
      answerOf(api.POST('/v1/sites/{domain}/index', { params: { path }, body: { force } })),
    onSuccess: refresh,
  });
  return (
    <section className="panel" aria-label={domain}>
      <div className="page-head">
        <h2>{domain}</h2>
        {isBeingIndexed(site) && <span className="badge badge-active">indexing…</span>}
        {index.failure !== null && <span className="badge badge-bad">last index failed</span>}
        <div className="actions push">
          <Link className="button" to="/playground" search={{ site: domain }}>
            Ask
          </Link>
          {may && (
            <Button
              className="button"
              isDisabled={reindex.isPending || isBeingIndexed(site)}
              onPress={() => reindex.mutate(false)}
            >
              Re-index
            </Button>
          )}
        </div>
      </div>
      <dl className="facts">
        <Fact name="Source">
          <code>{site.repository ?? site.directory ?? 'none'}</code> {site.path !== '' && <code>{site.path}</code>}
        </Fact>
        {site.sources.map((source) => (
          <Fact key={source.prefix} name={`Source below /${source.prefix}`}>
            <code>{addressOf(source)}</code> {source.weight !== 1 && `weight ${source.weight}`}
            <SourceState report={index.report?.sources.find(({ prefix }) => prefix === source.prefix)} />
          </Fact>
        ))}
        <Fact name="Published URL">
          {site.baseUrl === null ? (
            'not set'
          ) : (
            <a href={site.baseUrl} target="_blank" rel="noopener noreferrer">
              {site.baseUrl}
            </a>
          )}
        </Fact>
        <Fact name="Index">
          {index.version === 0 ? 'none yet' : `version ${index.version}, ${plural(index.pages, 'page')}`}
        </Fact>
        {index.report !== null && (
          <Fact name="Format">
            {index.report.layout ?? 'plain folder'}:{' '}
            {Object.entries(index.report.formats)
              .map(([format, pages]) => `${plural(pages, 'page')} of ${format}`)
              .join(', ')}
            {index.report.skipped.length > 0 && <p className="hint">Not read: {index.report.skipped.join(', ')}</p>}
          </Fact>
        )}
        {index.report?.vectors != null && (
          <Fact name="Search by meaning">
            {index.report.vectors.passages} of {plural(index.report.vectors.of, 'passage')},{' '}
            {index.report.vectors.model}
            {index.report.vectors.problem !== null && <p className="hint">{index.report.vectors.problem}</p>}
          </Fact>
        )}
        <Fact name="Last indexed">{index.indexedAt === null ? 'never' : <Ago date={index.indexedAt} />}</Fact>
        <Fact name="Re-index">
          {site.refreshMinutes === null ? 'never' : `every ${plural(site.refreshMinutes, 'minute')}`}
        </Fact>
        <Fact name="Conversation retention">
          {site.retentionDays === 0 ? 'none' : plural(site.retentionDays, 'day')}
        </Fact>
      </dl>
      {index.failure !== null && (
        <p className="field-error">
          {index.failure.message} <code>{index.failure.category}</code>{' '}
          {index.failure.category === 'site_worse' && may && (
            <Button className="button" isDisabled={reindex.isPending} onPress={() => reindex.mutate(true)}>
              Use it anyway
            </Button>
          )}
        </p>
      )}
      <Problem error={reindex.error} />
      <details className="inner">
        <summary>Edit</summary>
        <SiteForm site={site} onSaved={refresh} />
        <SiteSourcesForm site={site} onSaved={refresh} />
        <Only role="admin">
          <div className="danger">
            <p className="hint">Also deletes its index and conversations.</p>
            <Confirm
              label="Delete site"
              what="Delete"
              title={`Delete ${domain}?`}
              text="This also deletes its index and its conversations. This cannot be undone."
              act={() => done(api.DELETE('/v1/sites/{domain}', { params: { path } }))}
              onDone={refresh}
            />
          </div>
        </Only>
      </details>
    </section>
  );
}

function addressOf(source: Site['sources'][number]): string {
  if (source.kind === 'website' || source.kind === 'discourse') return source.url;
  if ('groups' in source) return `${source.kind === 'issues' ? 'Issues' : 'Discussions'} of ${source.repository}`;
  return source.kind === 'repository' ? source.repository : source.directory;
}

type SourceReport = NonNullable<Site['index']['report']>['sources'][number];

function SourceState({ report }: { report: SourceReport | undefined }) {
  if (report === undefined) return null;
  return (
    <>
      {' '}
      {plural(report.pages, 'page')}
      {report.problem !== null && <p className="hint">{report.problem}</p>}
      {report.skipped.map((sentence) => (
        <p key={sentence} className="hint">
          {sentence}
        </p>
      ))}
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
