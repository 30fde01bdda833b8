import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Loaded, Settled } from '../components/loaded.tsx';
import { useSession } from '../components/session.tsx';
import { NoSites, SiteChoice } from '../components/site-choice.tsx';
import { Table } from '../components/table.tsx';
import { Ago } from '../components/time.tsx';
import { EvaluationView } from '../evaluations/evaluation.tsx';
import { NewSet, QuestionSets } from '../evaluations/question-sets.tsx';
import { StartEvaluation } from '../evaluations/start-evaluation.tsx';
import { count } from '../format.ts';
import { answerOf, api } from '../http/client.ts';
import { plain } from '../plain.ts';
import { useTitle } from '../use-title.ts';
import '../styles/settings.css';
import '../styles/assistant.css';

/** Shows the question sets of a site, and the evaluations of its answers to them. */
export function EvaluationsPage() {
  const { sites } = useSession();
  const { site = sites[0]?.domain ?? '', id } = useSearch({ from: '/evaluations' });
  const navigate = useNavigate();
  useTitle('Evaluations');
  if (site === '') return <NoSites title="Evaluations" />;
  return (
    <>
      <div className="page-head">
        <h1>Evaluations</h1>
        <SiteChoice
          domain={site}
          onChange={(domain) => void navigate({ to: '/evaluations', search: { site: domain } })}
        />
      </div>
      <p className="quiet">
        An evaluation asks the questions of a set with one configuration of the assistant, or compares two.
      </p>
      {id !== undefined && <EvaluationView key={id} domain={site} id={id} />}
      <SiteEvaluations key={site} domain={site} />
    </>
  );
}

function SiteEvaluations({ domain }: { domain: string }) {
  const navigate = useNavigate();
  const params = { path: { domain } };
  const sets = useQuery({
    queryKey: ['question-sets', domain],
    queryFn: () => answerOf(api.GET('/v1/sites/{domain}/question-sets', { params })),
  });
  const evaluations = useQuery({
    queryKey: ['evaluations', domain],
    queryFn: () => answerOf(api.GET('/v1/sites/{domain}/evaluations', { params })),
    refetchInterval: 5_000,
  });
  const onChange = () => sets.refetch();
  return (
    <Settled queries={[sets, evaluations]}>
      <h2 className="section-head">Evaluations</h2>
      <Loaded query={evaluations} problem="Evaluations could not be loaded">
        {({ evaluations }) =>
          evaluations.length === 0 ? (
            <p className="quiet">None yet.</p>
          ) : (
            <Table name="Evaluations" columns={['Question set', 'State', 'Answers', 'Started']}>
              {evaluations.map((one) => (
                <tr key={one.id}>
                  <td>
                    <Link to="/evaluations" search={{ site: domain, id: one.id }}>
                      {plain(one.setName)}
                    </Link>
                  </td>
                  <td>{one.state}</td>
                  <td>
                    {count(one.asked)} of {count(one.questions * one.configurations.length)}
                  </td>
                  <td>
                    <Ago date={one.createdAt} />
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Loaded>
      <Loaded query={sets} problem="Question sets could not be loaded">
        {({ sets: known }) => (
          <>
            {known.length > 0 && (
              <>
                <h3>New evaluation</h3>
                <StartEvaluation
                  domain={domain}
                  sets={known}
                  onStart={async (started) => {
                    await evaluations.refetch();
                    await navigate({ to: '/evaluations', search: { site: domain, id: started } });
                  }}
                />
              </>
            )}
            <h2 className="section-head">Question sets</h2>
            <QuestionSets domain={domain} sets={known} onChange={onChange} />
          </>
        )}
      </Loaded>
      <h3>New question set</h3>
      <NewSet key={domain} domain={domain} onChange={onChange} />
    </Settled>
  );
}
