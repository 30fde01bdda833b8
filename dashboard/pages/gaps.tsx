import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { GapCard } from '../assistant/gap-card.tsx';
import { countsAsReader } from '../assistant/question-settings.tsx';
import { Loaded, Settled } from '../components/loaded.tsx';
import { EmptyNote, ErrorNote } from '../components/notes.tsx';
import { useSession } from '../components/session.tsx';
import { NoSites, SiteChoice } from '../components/site-choice.tsx';
import { Table } from '../components/table.tsx';
import { Ago } from '../components/time.tsx';
import { count } from '../format.ts';
import { answerOf, api } from '../http/client.ts';
import type { Gap } from '../http/types.ts';
import { plain } from '../plain.ts';
import { useTitle } from '../use-title.ts';
import '../styles/settings.css';
import '../styles/job.css';
import '../styles/assistant.css';

/** Shows the questions and searches of readers that found no answer. */
export function GapsPage() {
  const { sites } = useSession();
  const { site = sites[0]?.domain ?? '', state } = useSearch({ from: '/gaps' });
  const navigate = useNavigate();
  useTitle('Gaps');
  if (site === '') return <NoSites title="Gaps" />;
  return (
    <>
      <div className="page-head">
        <h1>Gaps</h1>
        <SiteChoice domain={site} onChange={(domain) => void navigate({ to: '/gaps', search: { site: domain } })} />
      </div>
      <p className="quiet">
        Questions the documentation did not answer. A job writes what is missing; when its pull request is merged, the
        site is indexed and the questions are asked again.
      </p>
      <SiteGaps key={site} domain={site} state={state} />
    </>
  );
}

const settled = ['open', 'answered', 'unanswered', 'dismissed'];

function SiteGaps({ domain, state }: { domain: string; state: 'dismissed' | undefined }) {
  const gaps = useQuery({
    queryKey: ['gaps', domain],
    queryFn: () => answerOf(api.GET('/v1/sites/{domain}/gaps', { params: { path: { domain } } })),
    refetchInterval: ({ state }) =>
      state.data?.gaps.every((gap) => settled.includes(gap.state)) === true ? 20_000 : 2_000,
  });
  return (
    <Settled queries={[gaps]}>
      <GapList domain={domain} state={state} gaps={gaps} />
      <h2 className="section-head">Searches without results</h2>
      <EmptySearches domain={domain} />
    </Settled>
  );
}

interface GapListProps {
  domain: string;
  state: 'dismissed' | undefined;
  gaps: UseQueryResult<{ gaps: Gap[] }>;
}

function GapList({ domain, state, gaps }: GapListProps) {
  const navigate = useNavigate();
  return (
    <Loaded query={gaps} problem="Gaps could not be loaded">
      {({ gaps: all }) => {
        const dismissed = all.filter((gap) => gap.state === 'dismissed');
        const current = all.filter((gap) => gap.state !== 'dismissed');
        const views = [
          { view: undefined, label: 'current', gaps: current },
          { view: 'dismissed', label: 'dismissed', gaps: dismissed },
        ] as const;
        return (
          <>
            {(dismissed.length > 0 || state !== undefined) && (
              <div className="segments gap-states" role="group" aria-label="State">
                {views.map(({ view, label, gaps }) => (
                  <Button
                    key={label}
                    className="segment"
                    aria-pressed={state === view}
                    onPress={() =>
                      void navigate({
                        to: '/gaps',
                        search: { site: domain, ...(view !== undefined && { state: view }) },
                        replace: true,
                      })
                    }
                  >
                    {label}
                    <span className="segment-count">{` ${count(gaps.length)}`}</span>
                  </Button>
                ))}
              </div>
            )}
            {current.some((gap) => gap.state === 'indexing') && <IndexProblem domain={domain} />}
            {(state === undefined ? current : dismissed).map((gap) => (
              <GapCard key={gap.id} domain={domain} gap={gap} />
            ))}
            {state !== undefined && dismissed.length === 0 && <EmptyNote title="No dismissed gaps" />}
            {state === undefined && current.length === 0 && (
              <EmptyNote title="No gaps">
                <p>Readers' questions from the last 90 days that got no answer or an unhelpful one appear here.</p>
                <p>A question in the playground counts if you select “{countsAsReader}” below the field.</p>
              </EmptyNote>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

/** Explains why questions are not asked again when their site cannot be indexed. */
function IndexProblem({ domain }: { domain: string }) {
  const site = useQuery({
    queryKey: ['site', domain],
    refetchInterval: 2_000,
    queryFn: () => answerOf(api.GET('/v1/sites/{domain}', { params: { path: { domain } } })),
  });
  const failure = site.data?.index.failure ?? null;
  if (failure === null) return null;
  return (
    <ErrorNote title="The site could not be indexed" message={failure.message}>
      <p>
        The questions are asked again after the next successful index:{' '}
        <Link to="/settings/$part" params={{ part: 'sites' }}>
          edit or re-index the site
        </Link>
        .
      </p>
    </ErrorNote>
  );
}

function EmptySearches({ domain }: { domain: string }) {
  const searches = useQuery({
    queryKey: ['searches', domain],
    queryFn: () => answerOf(api.GET('/v1/sites/{domain}/searches', { params: { path: { domain } } })),
  });
  return (
    <Loaded query={searches} problem="Searches could not be loaded">
      {({ searches }) =>
        searches.length === 0 ? (
          <p className="quiet">None in the last 30 days.</p>
        ) : (
          <Table name="Searches without results" columns={['Query', 'Count', 'Last']}>
            {searches.map(({ query, count: times, lastAt }) => (
              <tr key={query}>
                <td>{plain(query)}</td>
                <td>{count(times)}</td>
                <td>
                  <Ago date={lastAt} />
                </td>
              </tr>
            ))}
          </Table>
        )
      }
    </Loaded>
  );
}
