import type {
  EvaluatedConfiguration,
  EvaluationResult,
  EvaluationRow,
  ListedEvaluation,
} from '../../db/sites/evaluations.ts';
import type { ListedSet, QuestionSetRow, SetQuestion } from '../../db/sites/question-sets.ts';
import { mcNemar, mean, pairedDifference, wilson } from '../../lib/statistics.ts';
import type { PublicEvaluation } from './schemas.ts';

export function presentListedSet({ id, name, questions, createdAt, updatedAt }: ListedSet) {
  return { id, name, questions, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

export function presentSet({ questions, ...set }: QuestionSetRow) {
  return { ...presentListedSet({ ...set, questions: questions.length }), questions: questions.map(presentQuestion) };
}

/** Returns a question; those of earlier versions have no history. */
function presentQuestion(question: SetQuestion) {
  return { history: [], ...question };
}

/** Returns a configuration; those of earlier versions do not rewrite questions. */
export function presentConfiguration(configuration: EvaluatedConfiguration) {
  return { queryRewriting: null, ...configuration };
}

export function presentFields(evaluation: Omit<ListedEvaluation, 'configurations'>) {
  const { id, setId, setName, state, notice, questions, results, createdAt, endedAt } = evaluation;
  return {
    id,
    setId,
    setName,
    state,
    notice,
    questions,
    asked: results,
    createdAt: createdAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
  };
}

/** Returns an evaluation with its figures by configuration, their comparison, and the answers by question. */
export function presentEvaluation(evaluation: EvaluationRow & { results: EvaluationResult[] }): PublicEvaluation {
  const { questions, configurations, results } = evaluation;
  const sides = configurations.map((_, side) => results.filter((result) => result.side === side));
  return {
    ...presentFields({ ...evaluation, questions: questions.length, results: results.length }),
    indexVersions: [...new Set(results.map(({ indexVersion }) => indexVersion))],
    configurations: configurations.map((configuration, side) => ({
      ...presentConfiguration(configuration),
      ...figuresOf(sides[side] ?? []),
    })),
    comparison: comparisonOf(sides),
    results: questions.map((question, position) => ({
      ...presentQuestion(question),
      answers: sides.map((side) => presentResult(side.find((result) => result.position === position))),
    })),
  };
}

function figuresOf(results: EvaluationResult[]) {
  const countOf = (is: (result: EvaluationResult) => boolean | null) =>
    results.filter((one) => is(one) === true).length;
  const asked = results.length;
  const passed = countOf((result) => result.passed);
  const [low, high] = wilson(asked === 0 ? 0 : passed / asked, asked);
  return {
    asked,
    passed,
    passedShare: asked === 0 ? null : passed / asked,
    interval: { low, high },
    answered: countOf(({ answered }) => answered),
    citesExpected: countOf(({ citesExpected }) => citesExpected),
    findsExpected: countOf(({ findsExpected }) => findsExpected),
    withExpectedPages: countOf(({ citesExpected }) => citesExpected !== null),
    costUsd: results.reduce((sum, { costMicros }) => sum + costMicros, 0) / 1e6,
    meanMs: asked === 0 ? null : mean(results.map(({ durationMs }) => durationMs)),
  };
}

function comparisonOf([first, second]: EvaluationResult[][]): PublicEvaluation['comparison'] {
  if (first === undefined || second === undefined) return null;
  const pairs = first.flatMap((one) => {
    const other = second.find(({ position }) => position === one.position);
    return other === undefined ? [] : [{ before: one.passed, after: other.passed }];
  });
  const better = pairs.filter(({ before, after }) => after && !before).length;
  const worse = pairs.filter(({ before, after }) => before && !after).length;
  const pValue = mcNemar(better, worse);
  const verdict = pValue >= 0.05 ? 'undecided' : better > worse ? 'better' : 'worse';
  const [low, high] = pairedDifference(better, worse, pairs.length);
  return {
    pairs: pairs.length,
    better,
    worse,
    difference: pairs.length === 0 ? null : { share: (better - worse) / pairs.length, low, high },
    pValue,
    verdict,
  };
}

function presentResult(result: EvaluationResult | undefined) {
  if (result === undefined) return null;
  const { position: _, side: _side, indexVersion: _version, costMicros, ...shown } = result;
  return { ...shown, costUsd: costMicros / 1e6 };
}
