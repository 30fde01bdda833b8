import type { Mutation } from './list.ts';

const retention = { project: 'integration', tests: ['db/retention/retention'] } as const;
const totals = { project: 'integration', tests: ['db/retention/organization-totals'] } as const;
const erasure = { project: 'integration', tests: ['db/retention/erasure'] } as const;

/** Checks on retention, on what organizations hold and on deletion. */
export const retentionMutations: Mutation[] = [
  {
    name: 'a job begins again without room for its snapshots',
    file: 'db/migrations/0032-retention.sql',
    find: "when (old.status <> 'active' and",
    replace: "when (old.status = 'active' and",
    ...retention,
  },
  {
    name: 'jobs that were archived long ago stay',
    file: 'db/for-worker/retention.ts',
    find: "`status = 'archived'`",
    replace: "'false'",
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
    find: 'await boundThreads(pool, totals.id, totals.threads - threads);',
    replace: 'void boundThreads;',
    ...retention,
  },
  {
    name: 'the newest conversations go first',
    file: 'db/for-worker/retention.ts',
    find: 'organization_id = $1 order by updated_at limit $2',
    replace: 'organization_id = $1 order by updated_at desc limit $2',
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
    find: 'await boundSnapshots(pool, totals, totals.snapshotBytes - snapshotBytes);',
    replace: 'void boundSnapshots;',
    ...retention,
  },
  {
    name: 'snapshots of old jobs that continue are never removed',
    file: 'db/for-worker/retention.ts',
    find: 'after = jobs.at(-1)?.createdAt ?? null;',
    replace: 'after = jobs.at(-1)?.createdAt ?? after;',
    ...totals,
  },
  {
    name: 'a round goes through all jobs of an organization that has nothing to remove',
    file: 'db/for-worker/retention.ts',
    find: ' && idle < mostIdleBatches;',
    replace: ' && idle < Infinity;',
    ...totals,
  },
  ...[
    ['removed snapshots', 'insert or update of pack, patch or delete on job_snapshots', 'insert on job_snapshots'],
    ['changes of new steps', 'when (new.patch is not null)', 'when (new.patch is null)'],
    [
      'removed changes of steps',
      'when (octet_length(old.patch) is distinct from octet_length(new.patch))',
      'when (false)',
    ],
    ['deleted jobs', 'grow_snapshots(old.id, -(', "grow_snapshots('', -("],
  ].map(([what = '', find = '', replace = '']) => ({
    name: `the totals of an organization leave out ${what}`,
    file: 'db/migrations/0109-organization-growth.sql',
    find,
    replace,
    ...totals,
  })),
  {
    name: 'snapshots of a job have no bound',
    file: 'db/for-worker/snapshots.ts',
    find: 'await client.query(emptyBeyond, [jobId, snapshot.tree, mostBytes]);',
    replace: 'void [emptyBeyond, mostBytes];',
    ...retention,
  },
  {
    name: 'the executions of a deleted job run on',
    file: 'db/organizations/erasure.ts',
    find: "select id, turn from jobs where id = any($1::text[]) and status = 'active' on conflict do nothing",
    replace: 'select id, turn from jobs where id = any($1::text[]) and false on conflict do nothing',
    ...erasure,
  },
  {
    name: 'the pull requests of a deleted job stay',
    file: 'db/migrations/0095-pull-requests-of-jobs.sql',
    find: 'opened_by text references jobs (id) on delete cascade',
    replace: 'opened_by text',
    ...erasure,
  },
  {
    name: 'the growth of a deleted organization stays',
    file: 'db/organizations/erasure.ts',
    find: "for (const kept of ['audit_entries', 'operation_facts', 'organization_growth'])",
    replace: "for (const kept of ['audit_entries', 'operation_facts'])",
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
    name: 'a project is deleted in one transaction',
    file: 'db/organizations/erasure.ts',
    find: "await eraseJobs(caller, 'project_id', projectId);",
    replace: 'void eraseJobs;',
    ...erasure,
  },
  {
    name: 'the deletion of a project deletes jobs of another organization',
    file: 'db/organizations/erasure.ts',
    find: '${column} = $1 and organization_id = $2 order by',
    replace: '${column} = $1 and $2::text is not null order by',
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
