import type { Mutation } from './list.ts';

const steps = { project: 'integration', tests: ['db/jobs/steps'] } as const;
const quotas = { project: 'integration', tests: ['api/access/quotas'] } as const;
const fairSlots = { project: 'integration', tests: ['jobs/endings/fair-slots'] } as const;
const fairDatabase = { project: 'integration', tests: ['api/access/fair-database'] } as const;
const jobMoney = { project: 'integration', tests: ['jobs/model/money'] } as const;
const answerMoney = { project: 'integration', tests: ['assistant/money'] } as const;

/** Checks on shares between organizations. */
export const capacityMutations: Mutation[] = [
  {
    name: 'a holder takes slots beyond its share',
    file: 'db/fair-shares.ts',
    find: ' || own > free - 1',
    replace: '',
    project: 'unit',
    tests: ['db/fair-shares'],
  },
  {
    name: 'activities take slots without asking for a share',
    file: 'worker/share-slots.ts',
    find: 'if (giveBack === null) throw slotsTaken();',
    replace: 'if (giveBack === null) return next(input);',
    ...fairSlots,
  },
  {
    name: 'the executions of jobs name no organization to share slots with',
    file: 'api/jobs/job-starter.ts',
    find: 'priority: { fairnessKey: organizationId },',
    replace: '',
    ...fairSlots,
  },
  {
    name: 'connections are taken without a holder',
    file: 'db/fair-pool.ts',
    find: 'const holder = this.#holderOf();',
    replace: 'const holder = null;',
    ...fairDatabase,
  },
  {
    name: 'authentication does not name the holder of connections',
    file: 'api/access/request-access.ts',
    find: 'holders.name(caller.organizationId);',
    replace: '',
    ...fairDatabase,
  },
  {
    name: 'a slow read runs as long as any statement',
    file: 'db/pool.ts',
    find: '; set local statement_timeout = ${slowReadMs[kind]}',
    replace: '',
    ...fairDatabase,
  },
  {
    name: 'quotas do not see what is made at the same moment',
    file: 'db/migrations/0026-quotas.sql',
    find: 'perform from organizations where id = owner for no key update;',
    replace: '',
    ...quotas,
  },
  {
    name: 'turns an hour are counted and not refused',
    file: 'db/migrations/0026-quotas.sql',
    find: "perform refuse_beyond('turnsPerHour', counted);",
    replace: '',
    ...quotas,
  },
  {
    name: 'a job that begins again does not count as active',
    file: 'db/migrations/0026-quotas.sql',
    find: "create trigger hold_quota_again after update of status on jobs for each row\nwhen (old.status <> 'active' and",
    replace:
      "create trigger hold_quota_again after update of status on jobs for each row\nwhen (old.status = 'active' and",
    ...quotas,
  },
  {
    name: "a project's budget replaces the operator's",
    file: 'activities/model/spending.ts',
    find: 'return Math.min(own, ceiling);',
    replace: 'return own;',
    ...jobMoney,
  },
  {
    name: 'what jobs spend does not count for their organization',
    file: 'db/migrations/0027-organization-spending.sql',
    find: 'create trigger count_spending after insert or update',
    replace: 'create trigger count_spending after delete',
    ...jobMoney,
  },
  {
    name: 'answers go on when the day is spent',
    file: 'db/sites/answer-spending.ts',
    find: 'organizationMicros !== null && spent + held >= organizationMicros',
    replace: 'false',
    ...answerMoney,
  },
  {
    name: 'further calls of an answer are not reserved',
    file: 'api/assistant/assistant.ts',
    find: '            held = null;',
    replace: '',
    ...answerMoney,
  },
  {
    name: 'an answer stays charged with the most that it may cost',
    file: 'api/assistant/answer-budget.ts',
    find: 'await spending.settle(site, held, micros);',
    replace: 'void micros;',
    ...answerMoney,
  },
  {
    name: "a project's budget may pass the operator's",
    file: 'api/administration/routes-projects.ts',
    find: 'checkBudgets(checked, deps.budgets);',
    replace: '',
    ...answerMoney,
  },
  {
    name: 'an ended job that is archived is counted twice',
    file: 'db/migrations/0114-totals-of-deleted-jobs.sql',
    find: "if tg_op = 'UPDATE' and old.status <> 'active' then",
    replace: 'if false then',
    project: 'integration',
    tests: ['db/service-figures'],
  },
  {
    name: 'jobs of one status are looked for among all',
    file: 'db/jobs/job-statements.ts',
    find: 'where organization_id = $1 and ${status} and (',
    replace: "where organization_id = $1 and ${status.replace('status =', \"status || '' =\")} and (",
    project: 'integration',
    tests: ['db/query-plans'],
  },
  {
    name: 'a sweep ends after its first batch',
    file: 'db/delete-in-batches.ts',
    find: 'if ((rowCount ?? 0) < batch) return',
    replace: 'if (deleted > 0 || (rowCount ?? 0) < batch) return',
    project: 'integration',
    tests: ['db/rate-limits'],
  },
  {
    name: 'the watchdog checks only the first jobs',
    file: 'worker/chores/watchdog.ts',
    find: "while (last !== '')",
    replace: 'while (last !== last)',
    project: 'integration',
    tests: ['jobs/endings/watchdog'],
  },
  {
    name: 'an answer that is voted up again stays a gap',
    file: 'db/migrations/0038-unanswered.sql',
    find: "(answer.answered = false and answer.ending = 'finished') is not true;",
    replace: 'false;',
    project: 'integration',
    tests: ['db/retention/unanswered'],
  },
  {
    name: 'snapshots of the steps of a job have no bound',
    file: 'db/for-worker/snapshots.ts',
    find: 'if (bytes > mostBytes) await pool',
    replace: 'if (bytes === Infinity) await pool',
    ...steps,
  },
  {
    name: 'a later attempt of a step reads the context as of before its claim',
    file: 'db/for-worker/step-claims.ts',
    find: 'exists (select from claimed where fence = 1)',
    replace: 'exists (select from claimed)',
    ...steps,
  },
  {
    name: 'a call reads the context from before its messages were taken',
    file: 'activities/model/ask-step.ts',
    find: 'hasNew ? null : context',
    replace: 'context',
    project: 'integration',
    tests: ['jobs/endings/follow-up-twice'],
  },
  {
    name: 'an embedding model fills an index with long vectors',
    file: 'search/build/vectors.ts',
    find: 'vector.length > mostDimensions ? null : unitOf(vector)',
    replace: 'unitOf(vector)',
    project: 'unit',
    tests: ['search/build/vectors'],
  },
];
