import type { Mutation } from '../list.ts';

const plan = { project: 'integration', tests: ['jobs/plan'] } as const;
const ask = { project: 'integration', tests: ['jobs/ask'] } as const;
const review = { project: 'integration', tests: ['jobs/self-review'] } as const;
const decisions = { project: 'integration', tests: ['api/jobs/job-plans'] } as const;

/** Checks on jobs that wait for a person. */
export const waitMutations: Mutation[] = [
  {
    name: 'an agent that only plans may change files',
    file: 'activities/tools/toolset.ts',
    find: '(isReadOnly || !isOnlyPlanning)',
    replace: 'true',
    ...plan,
  },
  {
    name: 'a job without an approval publishes',
    file: 'activities/job/waiting.ts',
    find: 'if (!isPlanning(job)) return null;',
    replace: 'return null;',
    ...plan,
  },
  {
    name: 'a late write of an attempt changes a job that waits',
    file: 'db/for-worker/job-writes.ts',
    find: " and jobs.phase is distinct from 'waiting'`",
    replace: '`',
    ...plan,
  },
  {
    name: 'the watchdog fails a job that waits',
    file: 'db/for-worker/idle-jobs.ts',
    find: " and phase is distinct from 'waiting'",
    replace: '',
    project: 'integration',
    tests: ['db/retention/idle-jobs'],
  },
  {
    name: 'a job waits beyond its deadline',
    file: 'db/for-worker/idle-endings.ts',
    find: 'and wait_until <= now()',
    replace: 'and false',
    ...plan,
  },
  {
    name: 'a person approves a plan that they have not read',
    file: 'db/jobs/job-plans.ts',
    find: 'if (turn === undefined || turn === job.turn) return null;',
    replace: 'if (turn !== -1) return null;',
    ...decisions,
  },
  {
    name: 'two approvals start two turns',
    file: 'db/jobs/job-plans.ts',
    find: 'if (job.approvedTurn === null) return null;',
    replace: 'return null;',
    ...decisions,
  },
  {
    name: 'a plan is approved after its job has ended',
    file: 'db/jobs/job-plans.ts',
    find: "if (job.status !== 'active') return { kind: 'ended' };",
    replace: '',
    ...decisions,
  },
  {
    name: 'a plan is approved after its deadline',
    file: 'db/jobs/job-plans.ts',
    find: "if (job.isLate === true) return { kind: 'ended' };",
    replace: '',
    ...decisions,
  },
  {
    name: 'another organization decides about a plan',
    file: 'db/jobs/job-plans.ts',
    find: 'where id = $1 and organization_id = $2 for update',
    replace: "where id = $1 and $2 <> '' for update",
    project: 'integration',
    tests: ['api/access/owned-stores'],
  },
  {
    name: 'an agent asks although the job runs unattended',
    file: 'activities/tools/toolset.ts',
    find: "(name !== 'ask' || job.mayAsk)",
    replace: 'true',
    ...ask,
  },
  {
    name: 'an agent finishes beside its question',
    file: 'activities/tools/ask-tool.ts',
    find: "if (call.toolName !== 'finish') return call;",
    replace: 'return call;',
    ...ask,
  },
  {
    name: 'an agent reviews its change again and again',
    file: 'activities/tools/self-review.ts',
    find: 'if (asked !== undefined) return asked.step === step + 1;',
    replace: '',
    ...review,
  },
  {
    name: 'the offline model reviews its change',
    file: 'activities/tools/self-review.ts',
    find: " || modelToAsk(job).startsWith('offline/')",
    replace: '',
    ...review,
  },
  {
    name: 'agents review their change only where it is asked for',
    file: 'worker/config/config.ts',
    find: "DOCKET_SELF_REVIEW: z.enum(['on', 'off'], 'must be on or off').default('on')",
    replace: "DOCKET_SELF_REVIEW: z.enum(['on', 'off'], 'must be on or off').default('off')",
    project: 'unit',
    tests: ['worker/config/config'],
  },
  {
    name: 'a limit during the review fails work that was finished',
    file: 'workflows/job-workflow.ts',
    find: 'lastBefore !== null && state.isReviewing !== true',
    replace: 'lastBefore !== null',
    ...review,
  },
  {
    name: 'a provider that refuses the review fails work that was finished',
    file: 'workflows/job-workflow.ts',
    find: 'if (isEnd && keepsWork(outcomeOfFailure(error, wasCancelled))) return null;',
    replace: '',
    ...review,
  },
  {
    name: 'findings of a review give orders to a forge',
    file: 'activities/publish/pull-request-text.ts',
    find: "['## Self-review', inactiveMarkdown(findings)]",
    replace: "['## Self-review', findings]",
    project: 'unit',
    tests: ['activities/publish/pull-request-text'],
  },
  {
    name: 'a job that waits names nobody',
    file: 'db/jobs/job-statements.ts',
    find: `case when phase = 'waiting' then starter_of(organization_id, id, created_at) end`,
    replace: 'null::jsonb',
    ...decisions,
  },
];
