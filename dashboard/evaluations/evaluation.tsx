import { useQuery } from '@tanstack/react-query';
import { Loaded } from '../components/loaded.tsx';
import { Table } from '../components/table.tsx';
import { Confirm } from '../components/confirm.tsx';
import { cost, count, duration, percent, plural } from '../format.ts';
import { answerOf, api } from '../http/client.ts';
import type { Evaluation } from '../http/types.ts';
import { plain } from '../plain.ts';

/** Shows an evaluation: its configurations, how they compare, and the answers by question. */
export function EvaluationView({ domain, id }: { domain: string; id: string }) {
  const path = { domain, id };
  const evaluation = useQuery({
    queryKey: ['evaluation', domain, id],
    queryFn: () => answerOf(api.GET('/v1/sites/{domain}/evaluations/{id}', { params: { path } })),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? 2_000 : false),
  });
  return (
    <Loaded query={evaluation} problem="The evaluation could not be loaded">
      {(data) => (
        <section aria-labelledby="evaluation">
          <div className="page-head section-head">
            <h2 id="evaluation">
              {plain(data.setName)}: {data.state}
            </h2>
            {data.state === 'running' && (
              <Confirm
                role="member"
                label="Stop"
                what="Stop"
                title="Stop the evaluation?"
                text="Its answers so far remain."
                act={() => answerOf(api.POST('/v1/sites/{domain}/evaluations/{id}/stop', { params: { path } }))}
                onDone={() => evaluation.refetch()}
              />
            )}
          </div>
          <p className="quiet" role="status">
            {count(data.asked)} of {count(data.questions * data.configurations.length)} answers.{' '}
            {data.notice !== null && data.notice}
          </p>
          <Configurations {...data} />
          {data.comparison !== null && <Comparison {...data.comparison} />}
          <Results {...data} />
        </section>
      )}
    </Loaded>
  );
}

function orderOf(at: number): string {
  return at === 0 ? 'First' : 'Second';
}

function Configurations({ configurations }: Evaluation) {
  const columns = [
    'Model',
    'Passages',
    'Query rewriting',
    'Passed',
    '95% interval',
    'Cite an expected page',
    'Cost',
    'Mean duration',
  ];
  const isCompared = configurations.length > 1;
  return (
    <Table name="Configurations" columns={isCompared ? ['Configuration', ...columns] : columns}>
      {configurations.map((side, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- configurations have a fixed order, and may be equal
        <tr key={at}>
          {isCompared && <td>{orderOf(at)}</td>}
          <td>
            <code>{side.model}</code>
          </td>
          <td>{side.retrievalPageSize}</td>
          <td>{side.queryRewriting === null ? 'off' : <code>{side.queryRewriting}</code>}</td>
          <td>
            {count(side.passed)} of {count(side.asked)}
          </td>
          <td>
            {percent(side.interval.low)} to {percent(side.interval.high)}
          </td>
          <td>
            {count(side.citesExpected)} of {count(side.withExpectedPages)}
          </td>
          <td>{cost(side.costUsd)}</td>
          <td>{side.meanMs === null ? '' : duration(side.meanMs)}</td>
        </tr>
      ))}
    </Table>
  );
}

const verdicts = {
  better: 'The second configuration is better.',
  worse: 'The second configuration is worse.',
  undecided: 'The difference is not significant.',
};

function Comparison({ better, worse, pairs, difference, pValue, verdict }: NonNullable<Evaluation['comparison']>) {
  return (
    <p>
      <b>{verdicts[verdict]}</b> Of {plural(pairs, 'question')}, {count(worse)} passed only with the first configuration
      and {count(better)} only with the second (p = {pValue.toFixed(3)}).{' '}
      {difference !== null && (
        <>
          The difference is {percent(difference.share)}, with a 95% interval of {percent(difference.low)} to{' '}
          {percent(difference.high)}.
        </>
      )}
    </p>
  );
}

function Results({ results, configurations }: Evaluation) {
  const columns = ['Question', ...configurations.map((_, at) => orderOf(at))];
  return (
    <Table name="Results by question" columns={columns}>
      {results.map(({ history, text, answers }) => (
        <tr key={[...history, text].join('\n')}>
          <td>
            {history.length > 0 && <p className="hint">After {history.map(plain).join(' ')}</p>}
            {plain(text)}
          </td>
          {answers.map((answer, at) => (
            // oxlint-disable-next-line react/no-array-index-key -- answers are in the order of the configurations
            <td key={at}>{answer === null ? '' : <Result {...answer} />}</td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

function Result({
  passed,
  answer,
  missingFacts,
  cited,
  searchQuery,
}: NonNullable<Evaluation['results'][number]['answers'][number]>) {
  return (
    <details>
      <summary>
        <span className={`badge badge-${passed ? 'good' : 'bad'}`}>{passed ? 'passed' : 'failed'}</span>
      </summary>
      <p className="words">{plain(answer)}</p>
      {searchQuery !== null && <p className="hint">Searched for "{plain(searchQuery)}"</p>}
      {cited.length > 0 && <p className="hint">Cites {cited.map(plain).join(', ')}</p>}
      {missingFacts.length > 0 && <p className="hint">Does not contain {missingFacts.map(plain).join(', ')}</p>}
    </details>
  );
}
