import { Table } from '../components/table.tsx';
import { cost, count, duration, repositoryName, tokens } from '../format.ts';
import type { Job, Step, ToolCall, Turn } from '../http/types.ts';
import { isUpTo } from '../jobs/timeline/timeline.ts';
import { segmentsOf, timesOf, type Kind } from '../jobs/timeline/segments.ts';

/** A job with the facts that the comparison shows. */
export interface Compared {
  projectId: string;
  job: Job;
  turns: Turn[];
  steps: Step[];
  /** Today's budget per turn of its project; null for the service's setting, and undefined if it is unknown. */
  budgetUsd: number | null | undefined;
}

/** A line of the comparison: a text, or a quantity whose difference is shown, too. */
type Fact = [string, (side: Side) => string] | [string, (side: Side) => number | null, (value: number) => string];

interface Side extends Compared {
  times: Map<Kind, number>;
}

const limits = new Map([
  ['step_limit', 'steps'],
  ['budget_limit', 'budget'],
  ['time_limit', 'time'],
]);

const facts: Fact[] = [
  ['Status', ({ job }) => job.details.phase ?? job.status],
  ['Outcome', ({ job: { details, status, prLink } }) => details.failure?.title ?? endingOf(status, prLink)],
  ['Incomplete', ({ job }) => job.details.incomplete ?? '–'],
  ['Check', ({ job }) => job.details.check?.result ?? '–'],
  ['Stopped by a limit', ({ job }) => limits.get(job.details.failure?.category ?? '') ?? 'no'],
  [
    'Budget per turn',
    ({ budgetUsd }) => (budgetUsd === undefined ? '–' : budgetUsd === null ? 'default' : cost(budgetUsd)),
  ],
  ['Repository', ({ job: { source } }) => [repositoryName(source.repository), source.ref ?? ''].join(' ')],
  ['Base commit', ({ turns }) => turns[0]?.baseCommit?.slice(0, 10) ?? '–'],
  ['Model', ({ job }) => job.details.models.join(', then ')],
  ['Turns', ({ turns }) => turns.length, count],
  ['Steps', ({ job }) => job.details.steps, count],
  ['Tool calls', (side) => callsOf(side).length, count],
  ['Failed tool calls', (side) => callsOf(side).filter((call) => call.isError).length, count],
  ['Tokens in', ({ job }) => job.details.usage.inputTokens, tokens],
  ['Read from cache', ({ job }) => job.details.usage.cachedInputTokens, tokens],
  ['Written to cache', ({ job }) => job.details.usage.cacheWriteTokens, tokens],
  ['Uncached input', ({ job }) => job.details.usage.freshInputTokens, tokens],
  ['Tokens out', ({ job }) => job.details.usage.outputTokens, tokens],
  ['Cost', ({ job }) => job.details.usage.costUsd, cost],
  ['Total time', ({ times }) => [...times.values()].reduce((sum, ms) => sum + ms, 0), duration],
  ['Queue and preparation', ({ times }) => (times.get('queue') ?? 0) + (times.get('git') ?? 0), duration],
  ['Model time', ({ times }) => times.get('model') ?? 0, duration],
  ['Tool time', ({ times }) => times.get('tools') ?? 0, duration],
];

/** Returns the calls of the job itself: like its steps and its cost, without those copied from the job it was forked from. */
function callsOf({ job, steps }: Pick<Compared, 'job' | 'steps'>): ToolCall[] {
  return steps.filter((step) => !isUpTo(step, job.details.forkedFrom)).flatMap(({ toolCalls }) => toolCalls);
}

function endingOf(status: Job['status'], prLink: string | null): string {
  if (status === 'active') return '–';
  return prLink === null ? 'Completed without changes' : 'Pull request';
}

/** Shows the facts of two jobs side by side and highlights differences. */
export function ComparedFacts({ left, right }: { left: Compared; right: Compared }) {
  const sides = { left: sideOf(left), right: sideOf(right) };
  return (
    <Table name="Facts" columns={['Fact', 'Left', 'Right', 'Difference']}>
      {facts.map((fact) => {
        const [name] = fact;
        const [one, other, difference] = valuesOf(fact, sides);
        if (one === '–' && other === '–') return null;
        return (
          <tr key={name} className={one === other ? undefined : 'differs'}>
            <th scope="row">{name}</th>
            <td>{one}</td>
            <td>{other}</td>
            <td className="quiet">{difference}</td>
          </tr>
        );
      })}
    </Table>
  );
}

function valuesOf(fact: Fact, { left, right }: { left: Side; right: Side }): [string, string, string] {
  if (fact.length === 2) {
    const [, read] = fact;
    return [read(left), read(right), ''];
  }
  const [, read, format] = fact;
  const [one, other] = [read(left), read(right)];
  const shown = (value: number | null) => (value === null ? 'unknown' : format(value));
  const isSame = one === null || other === null || one === other;
  const difference = isSame ? '' : `${other > one ? '+' : '−'}${format(Math.abs(other - one))}`;
  return [shown(one), shown(other), difference];
}

function sideOf(compared: Compared): Side {
  const { turns, steps } = compared;
  const segments = turns.flatMap((turn) =>
    segmentsOf(
      turn,
      steps.filter((step) => step.turn === turn.turn),
      { phases: [], starts: new Map() },
      Date.now(),
    ),
  );
  return { ...compared, times: new Map(timesOf(segments).map(({ kind, ms }) => [kind, ms])) };
}
