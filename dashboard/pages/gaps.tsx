import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Button } from 'react-aria-components';
import { Problem } from '../components/fields.tsx';
import { EmptyNote, ErrorNote, Loading } from '../components/notes.tsx';
import { useSession } from '../components/session.tsx';
import { SiteChoice } from '../components/site-choice.tsx';
import { PullRequestBadge } from '../components/status.tsx';
import { Ago } from '../components/time.tsx';
import { count, plural } from '../format.ts';
import { answerOf, api, messageOf } from '../http/client.ts';
import type { Gap } from '../http/types.ts';
import { plain } from '../plain.ts';
import { queryClient } from '../queries.ts';
import '../styles/settings.css';
import '../styles/job.css';
import '../styles/assistant.css';

const words: Record<Gap['state'], { label: string; badge: string }> = {
  open: { label: 'open', badge: 'badge-warn' },
  working: { label: 'a job works on it', badge: 'badge-active' },
  indexing: { label: 'merged, indexing', badge: 'badge-active' },
  asking: { label: 'asking again', badge: 'badge-active' },
  answered: { label: 'now answered', badge: 'badge-good' },
  unanswered: { label: 'still not answered', badge: 'badge-bad' },
};

/** What readers asked and searched for, and did not find. */
export function GapsPage() {
  const { sites } = useSession();
  const { site = sites[0]?.domain ?? '' } = useSearch({ from: '/gaps' });
  const navigate = useNavigate();
  useEffect(() => {
    document.title = 'Gaps · Docket';
  }, []);
  if (site === '') return <EmptyNote title="There is no site yet">Make one in the settings.</EmptyNote>;
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
      <GapList key={site} domain={site} />
      <h2 className="section-head">Searches that found nothing</h2>
      <EmptySearches key={`searches of ${site}`} domain={site} />
    </>
  );
}

function GapList({ domain }: { domain: string }) {
  const gaps = useQuery({
    queryKey: ['gaps', domain],
    queryFn: () => answerOf(api.GET('/v1/sites/{domain}/gaps', { params: { path: { domain } } })),
    refetchInterval: ({ state }) =>
      state.data?.gaps.some((gap) => words[gap.state].badge === 'badge-active') === true ? 2_000 : 20_000,
  });
  if (gaps.isPending) return <Loading />;
  if (gaps.isError) return <ErrorNote title="The gaps could not be read" message={messageOf(gaps.error)} />;
  if (gaps.data.gaps.length === 0) return <EmptyNote title="Every question was answered" />;
  return gaps.data.gaps.map((gap) => <GapCard key={gap.id} domain={domain} gap={gap} />);
}

function GapCard({ domain, gap }: { domain: string; gap: Gap }) {
  const path = { domain, id: gap.id };
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['gaps', domain] });
  const makeJob = useMutation({
    mutationFn: () => answerOf(api.POST('/v1/sites/{domain}/gaps/{id}/job', { params: { path }, body: {} })),
    onSuccess: refresh,
  });
  const check = useMutation({
    mutationFn: () => answerOf(api.POST('/v1/sites/{domain}/gaps/{id}/check', { params: { path } })),
    onSuccess: refresh,
  });
  const { label, badge } = words[gap.state];
  return (
    <section className="panel" aria-label={plain(gap.label)}>
      <div className="page-head">
        <h2 className="asked">{plain(gap.label)}</h2>
        <span className={`badge ${badge}`}>{label}</span>
        <span className="hint">
          asked {plural(gap.count, 'time')}
          {gap.lastAskedAt !== null && (
            <>
              , last <Ago date={gap.lastAskedAt} />
            </>
          )}
        </span>
      </div>
      <ul className="questions">
        {gap.questions.map(({ text, count, answeredNow }) => (
          <li key={text}>
            {plain(text)} {count > 1 && <span className="hint">×{count}</span>}{' '}
            {answeredNow !== null && (
              <span className={`badge ${answeredNow ? 'badge-good' : 'badge-bad'}`}>
                {answeredNow ? 'now answered' : 'not answered'}
              </span>
            )}
          </li>
        ))}
      </ul>
      <Problem error={makeJob.error ?? check.error} />
      <div className="actions">
        {gap.job === null ? (
          <Button className="button button-primary" isDisabled={makeJob.isPending} onPress={() => makeJob.mutate()}>
            Make a job
          </Button>
        ) : (
          <>
            <Link
              className="button"
              to="/jobs/$projectId/$id"
              params={{ projectId: gap.job.projectId, id: gap.job.id }}
            >
              Its job
            </Link>
            {gap.job.prState !== null && <PullRequestBadge state={gap.job.prState} />}
          </>
        )}
        <Button
          className="button"
          isDisabled={check.isPending || badge === 'badge-active'}
          onPress={() => check.mutate()}
        >
          Ask again now
        </Button>
        {gap.checkedAt !== null && (
          <span className="hint">
            asked again <Ago date={gap.checkedAt} />
          </span>
        )}
      </div>
    </section>
  );
}

function EmptySearches({ domain }: { domain: string }) {
  const searches = useQuery({
    queryKey: ['searches', domain],
    queryFn: () => answerOf(api.GET('/v1/sites/{domain}/searches', { params: { path: { domain } } })),
  });
  if (searches.isPending) return <Loading />;
  if (searches.isError) return <ErrorNote title="The searches could not be read" message={messageOf(searches.error)} />;
  if (searches.data.searches.length === 0) return <p className="quiet">None in the last 30 days.</p>;
  return (
    <table className="table">
      <thead>
        <tr>
          <th>Words</th>
          <th>Times</th>
          <th>Last</th>
        </tr>
      </thead>
      <tbody>
        {searches.data.searches.map(({ query, count: times, lastAt }) => (
          <tr key={query}>
            <td>{plain(query)}</td>
            <td>{count(times)}</td>
            <td>
              <Ago date={lastAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
