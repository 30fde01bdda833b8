import type { Mutation } from './list.ts';

const retention = { project: 'integration', tests: ['db/retention'] } as const;
const erasure = { project: 'integration', tests: ['db/erasure'] } as const;
const quotas = { project: 'integration', tests: ['api/quotas'] } as const;
const fairSlots = { project: 'integration', tests: ['jobs/fair-slots'] } as const;
const fairDatabase = { project: 'integration', tests: ['api/fair-database'] } as const;
const jobMoney = { project: 'integration', tests: ['jobs/money'] } as const;
const answerMoney = { project: 'integration', tests: ['assistant/money'] } as const;

/** What one organization may take from the others, what is kept, and what deleting leaves. */
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
    name: 'connections are taken for nobody',
    file: 'db/fair-pool.ts',
    find: 'const holder = this.#holderOf();',
    replace: 'const holder = null;',
    ...fairDatabase,
  },
  {
    name: 'authentication names nobody as the holder of connections',
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
    name: 'a job begins again without room for its snapshots',
    file: 'db/migrations/0032-retention.sql',
    find: "when (old.status <> 'active' and",
    replace: "when (old.status = 'active' and",
    ...retention,
  },
  {
    name: "a project's budget replaces the operator's",
    file: 'db/for-worker/budgets.ts',
    find: 'least(job_budget_micros, $2)',
    replace: 'coalesce(job_budget_micros, $2)',
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
    find: 'if (budgetMicros !== null && spent + held >= budgetMicros) return null;',
    replace: '',
    ...answerMoney,
  },
  {
    name: 'an answer stays charged with its estimate',
    file: 'api/assistant/answer-budget.ts',
    find: 'await spending.add({ organizationId, day, micros: micros - mostMicros });',
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
    name: 'jobs that were archived long ago stay',
    file: 'db/for-worker/retention.ts',
    find: "status = 'archived' and ${olderThan('archived_at')}",
    replace: 'false and $1 > 0',
    ...retention,
  },
  {
    name: 'jobs go that were archived a moment ago',
    file: 'db/for-worker/retention.ts',
    find: "and ${column} < now() - $1::integer * interval '1 day'",
    replace: 'and ${column} is not null',
    ...retention,
  },
  {
    name: 'retention of 0 days removes everything',
    file: 'db/for-worker/retention.ts',
    find: '$1::integer > 0 and ',
    replace: '',
    ...retention,
  },
  {
    name: 'conversations beyond the room of an organization stay',
    file: 'db/for-worker/retention.ts',
    find: "await remove('threads', 'id', beyondNewest, [threads]),",
    replace: 'beyondNewest.length < threads && false,',
    ...retention,
  },
  {
    name: 'the newest conversations go first',
    file: 'db/for-worker/retention.ts',
    find: 'order by updated_at desc offset',
    replace: 'order by updated_at offset',
    ...retention,
  },
  {
    name: 'the ends of turns lose their contents as other snapshots do',
    file: 'db/for-worker/retention.ts',
    find: 'order by step desc limit 1',
    replace: 'order by step desc limit 0',
    ...retention,
  },
  {
    name: 'snapshots of an organization have no bound',
    file: 'db/for-worker/retention.ts',
    find: 'if (bytes > mostBytes) {',
    replace: 'if (bytes < 0) {',
    ...retention,
  },
  {
    name: 'snapshots of a job have no bound',
    file: 'db/for-worker/snapshots.ts',
    find: 'await client.query(emptyBeyond, [jobId, tree, mostBytes]);',
    replace: 'void [emptyBeyond, mostBytes];',
    ...retention,
  },
  {
    name: 'the executions of a deleted job run on',
    file: 'db/organizations/erasure.ts',
    find: "select id, turn from jobs where ${column} = $1 and status = 'active' on conflict do nothing",
    replace: 'select id, turn from jobs where ${column} = $1 and false on conflict do nothing',
    ...erasure,
  },
  {
    name: 'the pull requests of a deleted job stay',
    file: 'db/organizations/erasure.ts',
    find: 'delete from pull_requests where id in',
    replace: 'delete from pull_requests where false and id in',
    ...erasure,
  },
  {
    name: 'the audit log of a deleted organization stays',
    file: 'db/organizations/erasure.ts',
    find: "if (table === 'organizations') await client.query",
    replace: "if (table === 'jobs') await client.query",
    ...erasure,
  },
  {
    name: 'the index blocks of a deleted organization stay',
    file: 'db/organizations/erasure.ts',
    find: 'if (isErased) await removeOrphanBlocks(pool);',
    replace: 'void removeOrphanBlocks;',
    ...erasure,
  },
  {
    name: 'the counters of what was deleted stay',
    file: 'db/organizations/erasure.ts',
    find: "await client.query(`delete from rate_limits where right(key, length($1) + 1) = ':' || $1`, [id]);",
    replace: '',
    ...erasure,
  },
  {
    name: 'a deletion is not audited',
    file: 'db/organizations/erasure.ts',
    find: 'await writeAudit(client, caller, { action: `${table.slice(0, -1)}.delete`, subject: id });',
    replace: 'void [writeAudit, caller];',
    ...erasure,
  },
];
