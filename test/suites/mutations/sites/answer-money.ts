import type { Mutation } from '../list.ts';

const money = { project: 'integration', tests: ['assistant/money'] } as const;
const rewritingBudget = { project: 'integration', tests: ['assistant/query-rewriting-budget'] } as const;

/** Checks on what answers of a site may cost. */
export const answerMoneyMutations: Mutation[] = [
  {
    name: "a site's budget is exceeded by one call",
    file: 'db/sites/answer-spending.ts',
    find: 'ofSite.spent + maxMicros > siteMicros',
    replace: 'ofSite.spent >= siteMicros',
    ...money,
  },
  {
    name: 'questions at the same time exceed the budget of a site together',
    file: 'db/sites/answer-spending.ts',
    find: ' for no key update',
    replace: '',
    ...money,
  },
  {
    name: 'the model answers although the budget of its site is spent',
    file: 'api/assistant/answer-budget.ts',
    find: "if (reservation.spent === 'site') return extract;",
    replace: "if (reservation.spent === 'site') return call;",
    ...money,
  },
  {
    name: 'a call of an answer that breaks off, or whose reader leaves, counts at its highest possible cost',
    file: 'api/assistant/generate.ts',
    find: 'await settle(failure);',
    replace: 'if (hasFinished) await settle(failure);',
    ...money,
  },
  {
    name: 'a call that never reached its model is counted',
    file: 'models/used-tokens.ts',
    find: ' || neverSent.test(codesOf(error))',
    replace: '',
    ...money,
  },
  {
    name: 'a query that breaks off counts at its highest possible cost',
    file: 'api/assistant/retrieval/rewrite-query.ts',
    find: 'costMicros = await reserved.settle(lostTokens(error, { sentCharacters, receivedCharacters: 0 }));',
    replace: 'lostTokens(error, { sentCharacters, receivedCharacters: 0 });',
    ...rewritingBudget,
  },
  {
    name: "a site's budget may pass the operator's",
    file: 'api/sites/routes-sites.ts',
    find: 'checkAnswerBudget(change, deps.budgets);',
    replace: '',
    ...money,
  },
  {
    name: 'a query is written although the budget of its site is spent',
    file: 'api/assistant/retrieval/rewrite-query.ts',
    find: 'if (reserved === null || reserved.model !== model) return',
    replace: 'if (reserved === null) return',
    ...rewritingBudget,
  },
  {
    name: "a question is refused when its query does not fit the organization's budget",
    file: 'api/assistant/retrieval/rewrite-query.ts',
    find: 'if (error instanceof ApiError && error.status === 429) return null;',
    replace: '',
    ...rewritingBudget,
  },
  {
    name: "the cost of a query is not part of the answer's",
    file: 'api/assistant/assistant.ts',
    find: 'rewritten.costMicros() + answerMicros',
    replace: 'answerMicros',
    ...rewritingBudget,
  },
];
