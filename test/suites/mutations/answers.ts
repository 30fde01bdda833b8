import type { Mutation } from './list.ts';

const money = { project: 'integration', tests: ['assistant/money'] } as const;

/** What the answers of a site may cost. */
export const answerMutations: Mutation[] = [
  {
    name: "a site's budget is exceeded by one call",
    file: 'db/sites/answer-spending.ts',
    find: 'ofSite.spent + mostMicros > siteMicros',
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
    find: "if (held.spent === 'site') return extract;",
    replace: "if (held.spent === 'site') return call;",
    ...money,
  },
  {
    name: "a site's budget may pass the operator's",
    file: 'api/sites/routes-sites.ts',
    find: 'checkAnswerBudget(change, deps.budgets);',
    replace: '',
    ...money,
  },
];
