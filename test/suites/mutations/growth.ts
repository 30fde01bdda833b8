import type { Mutation } from './list.ts';

/** Mutations of what keeps queries small as tables grow. */
export const growthMutations: Mutation[] = [
  {
    name: 'a stream of changes leaves out jobs that have ended',
    file: 'db/migrations/0050-settled-jobs.sql',
    find: "case when new.status <> 'active' then new.updated_at end;",
    replace: 'null;',
    project: 'integration',
    tests: ['db/jobs/job-updates'],
  },
  {
    name: 'rollups replace what a slot has',
    file: 'db/operations/rollups.ts',
    find: '${name} = rollups.${name} + excluded.${name}',
    replace: '${name} = excluded.${name}',
    project: 'integration',
    tests: ['db/operation-rollups'],
  },
  {
    name: 'forked turns count as created',
    file: 'db/migrations/0047-operation-rollups.sql',
    find: "create trigger note_turn after insert on job_turns for each row when (new.status = 'active') execute",
    replace: 'create trigger note_turn after insert on job_turns for each row execute',
    project: 'integration',
    tests: ['db/operation-rollups'],
  },
  {
    name: 'every worker does each round of a shared chore',
    file: 'db/for-worker/chores.ts',
    find: ' where chores.due_at <= now()',
    replace: '',
    project: 'integration',
    tests: ['db/chores'],
  },
];
