import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { Confirm } from '../components/confirm.tsx';
import { Field, Problem, Submit } from '../components/fields.tsx';
import { ErrorNote, Loading } from '../components/notes.tsx';
import { Ago } from '../components/time.tsx';
import { plural } from '../format.ts';
import { answerOf, api, done, messageOf } from '../http/client.ts';
import type { Site } from '../http/types.ts';
import { queryClient, sessionQuery } from '../queries.ts';

const queryKey = ['sites'];

async function refresh(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey });
  await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
}

/** Sites whose pages the assistant answers from. */
export function SitesPage() {
  const sites = useQuery({
    queryKey,
    queryFn: () => answerOf(api.GET('/v1/sites')),
    refetchInterval: ({ state }) => (state.data?.sites.some(isBeingIndexed) === true ? 1_500 : false),
  });
  if (sites.isPending) return <Loading />;
  if (sites.isError) return <ErrorNote title="The sites could not be read" message={messageOf(sites.error)} />;
  return (
    <>
      {sites.data.sites.map((site) => (
        <SiteCard key={site.id} site={site} />
      ))}
      <details className="panel">
        <summary>
          <strong>New site</strong>
        </summary>
        <NewSite />
      </details>
    </>
  );
}

function isBeingIndexed({ index }: Site): boolean {
  return index.requestedAt !== null;
}

function SiteCard({ site }: { site: Site }) {
  const { domain, index } = site;
  const path = { domain };
  const reindex = useMutation({
    mutationFn: () => answerOf(api.POST('/v1/sites/{domain}/index', { params: { path } })),
    onSuccess: refresh,
  });
  return (
    <section className="panel" aria-label={domain}>
      <div className="page-head">
        <h2>{domain}</h2>
        {isBeingIndexed(site) && <span className="badge badge-active">indexing…</span>}
        {index.failure !== null && <span className="badge badge-bad">last index failed</span>}
      </div>
      <dl className="facts">
        <div>
          <dt>Source</dt>
          <dd>
            <code>{site.repository ?? site.directory}</code> {site.path !== '' && <code>{site.path}</code>}
          </dd>
        </div>
        <div>
          <dt>Index</dt>
          <dd>{index.version === 0 ? 'none yet' : `version ${index.version}, ${plural(index.pages, 'page')}`}</dd>
        </div>
        <div>
          <dt>Last run</dt>
          <dd>{index.indexedAt === null ? 'never' : <Ago date={index.indexedAt} />}</dd>
        </div>
        <div>
          <dt>By itself</dt>
          <dd>{site.refreshMinutes === null ? 'never' : `every ${plural(site.refreshMinutes, 'minute')}`}</dd>
        </div>
        <div>
          <dt>Conversations kept</dt>
          <dd>{site.retentionDays === 0 ? 'none' : plural(site.retentionDays, 'day')}</dd>
        </div>
      </dl>
      {index.failure !== null && (
        <p className="field-error">
          {index.failure.message} <code>{index.failure.category}</code>
        </p>
      )}
      <Problem error={reindex.error} />
      <div className="actions">
        <Button
          className="button"
          isDisabled={reindex.isPending || isBeingIndexed(site)}
          onPress={() => reindex.mutate()}
        >
          Index again
        </Button>
        <Link className="button" to="/playground" search={{ site: domain }}>
          Ask it
        </Link>
        <Confirm
          label="Delete"
          what="Delete the site"
          title={`Delete ${domain}?`}
          text="Its index and its conversations are deleted with it. This cannot be taken back."
          act={() => done(api.DELETE('/v1/sites/{domain}', { params: { path } }))}
          onDone={refresh}
        />
      </div>
    </section>
  );
}

function NewSite() {
  const [domain, setDomain] = useState('');
  const [repository, setRepository] = useState('');
  const [path, setPath] = useState('');
  const create = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST('/v1/sites', {
          body: {
            domain: domain.trim(),
            repository: repository.trim(),
            ...(path.trim() === '' ? {} : { path: path.trim() }),
          },
        }),
      ),
    onSuccess: () => {
      setDomain('');
      return refresh();
    },
  });
  return (
    <Form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <Field label="Domain" value={domain} onChange={setDomain} isRequired isCode placeholder="my-docs" />
      <Field
        label="Repository"
        value={repository}
        onChange={setRepository}
        isRequired
        isCode
        placeholder="https://github.com/acme/docs"
      />
      <Field label="Folder of the pages" value={path} onChange={setPath} isCode placeholder="all of the repository" />
      <Submit label="Make the site" action={create} />
    </Form>
  );
}
