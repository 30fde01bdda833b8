import type { Mutation } from './list.ts';

const money = { project: 'integration', tests: ['assistant/money'] } as const;

const readerTokens = { project: 'integration', tests: ['assistant/reader-tokens'] } as const;
const whole = { project: 'integration', tests: ['assistant/whole'] } as const;

/** Limits on the cost of a site’s answers. */
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
  {
    name: 'pages of every group are suggested',
    file: 'search/query/suggest.ts',
    find: 'hidden: hasRestricted ? hiddenFrom(access) : null',
    replace: 'hidden: hasRestricted ? null : hiddenFrom(access)',
    project: 'unit',
    tests: ['search/query/page-access'],
  },
  {
    name: 'suggestions take every reader for a member of all groups',
    file: 'api/sites/routes-search.ts',
    find: 'const found = await reading.withIndex({ site, access }, (index) =>',
    replace: "const found = await reading.withIndex({ site, access: access === null ? access : 'all' }, (index) =>",
    ...readerTokens,
  },
  {
    name: 'a whole answer draws on pages of every group',
    file: 'api/assistant/routes.ts',
    find: 'if (!request.isStream) return sendWhole(deps, ctx, question);',
    replace: "if (!request.isStream) return sendWhole(deps, ctx, { ...question, access: 'all' });",
    ...readerTokens,
  },
  {
    name: 'a whole answer goes on when its client has left',
    file: 'api/assistant/routes.ts',
    find: 'gone: clientGone(ctx.res),',
    replace: 'gone: new AbortController().signal,',
    ...whole,
  },
];
