import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { Button } from 'react-aria-components';
import { Choice } from '../components/choice.tsx';
import { NextPage } from '../components/next-page.tsx';
import { Loaded } from '../components/loaded.tsx';
import { EmptyNote } from '../components/notes.tsx';
import { Table } from '../components/table.tsx';
import { Ago } from '../components/time.tsx';
import { byCursor } from '../http/all-pages.ts';
import { answerOf, api } from '../http/client.ts';
import { Copy } from '../components/copy.tsx';
import { headline, plain } from '../plain.ts';
import { auditKinds, type AuditFilters } from './audit-filters.ts';

/** Shows the audit log of administrative actions. */
export function AuditPage() {
  const filters = useSearch({ from: '/settings/$part' });
  const navigate = useNavigate();
  const show = (search: AuditFilters) =>
    void navigate({ to: '/settings/$part', params: { part: 'audit' }, search, replace: true });
  const { action, ...narrowing } = filters;
  const narrowed = Object.values(narrowing);
  return (
    <>
      <div className="page-head">
        <Choice
          isInline
          label="Show"
          value={auditKinds.find(([kind]) => kind === action)?.[0] ?? ''}
          options={auditKinds}
          onChange={(kind) => show({ ...narrowing, ...(kind !== '' && { action: kind }) })}
        />
        {narrowed.length > 0 && (
          <>
            <span className="quiet">only {narrowed.map((value) => plain(value)).join(', ')}</span>
            <Button className="button button-quiet" onPress={() => show(action === undefined ? {} : { action })}>
              Show all
            </Button>
          </>
        )}
      </div>
      <Entries filters={filters} />
    </>
  );
}

function Entries({ filters }: { filters: AuditFilters }) {
  const isFiltered = Object.keys(filters).length > 0;
  const audit = useInfiniteQuery({
    queryKey: ['audit', filters],
    ...byCursor,
    queryFn: ({ pageParam }) =>
      answerOf(api.GET('/v1/audit', { params: { query: { limit: 50, ...filters, cursor: pageParam || undefined } } })),
  });
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = audit;
  // a request searches a part of the log; one without a match says nothing about the rest
  const isSearching = data?.pages.at(-1)?.entries.length === 0 && hasNextPage && !isError;
  useEffect(() => {
    if (isSearching && !isFetching) void fetchNextPage();
  }, [isSearching, isFetching, fetchNextPage]);
  return (
    <Loaded query={audit} problem="The audit log could not be loaded">
      {({ pages }) => {
        const entries = pages.flatMap((page) => page.entries);
        const more = isSearching ? (
          <p className="quiet" role="status">
            Searching earlier entries…
          </p>
        ) : (
          <NextPage list={audit} label="Earlier" />
        );
        if (entries.length === 0 && hasNextPage) return more;
        if (entries.length === 0) return <EmptyNote title={isFiltered ? 'No matching changes' : 'No changes yet'} />;
        return (
          <>
            <Table name="Audit log" columns={['Time', 'Action', 'Subject', 'By']}>
              {entries.map(({ id, at, action, subject, subjectName, actor }) => (
                <tr key={id}>
                  <td>
                    <Ago date={at} />
                  </td>
                  <td>
                    <code>{action}</code>
                  </td>
                  <td>
                    {subject !== null && <Named id={subject} name={subjectName} filters={{ ...filters, subject }} />}
                  </td>
                  <td>
                    {actor.person !== null && (
                      <>
                        <Narrow filters={{ ...filters, person: actor.person }}>{plain(actor.person)}</Narrow>{' '}
                      </>
                    )}
                    {actor.keyId === null ? (
                      'command line'
                    ) : (
                      <Named id={actor.keyId} name={actor.keyName} filters={{ ...filters, keyId: actor.keyId }} />
                    )}
                    {actor.sessionId !== null && <span className="quiet"> in the dashboard</span>}
                  </td>
                </tr>
              ))}
            </Table>
            {more}
          </>
        );
      }}
    </Loaded>
  );
}

/** Shows the name of a resource, which narrows the log to it, and its id to copy. */
function Named({ id, name, filters }: { id: string; name: string | null; filters: AuditFilters }) {
  return (
    <>
      {name !== null && (
        <>
          <Narrow filters={filters}>{headline(plain(name), 80)}</Narrow>{' '}
        </>
      )}
      <span className="one-line">
        <code className={name === null ? undefined : 'quiet'}>
          {name === null ? <Narrow filters={filters}>{id}</Narrow> : id}
        </code>
        <Copy text={id} label={id} />
      </span>
    </>
  );
}

function Narrow({ filters, children }: { filters: AuditFilters; children: ReactNode }) {
  return (
    <Link className="narrow" to="/settings/$part" params={{ part: 'audit' }} search={filters}>
      {children}
    </Link>
  );
}
