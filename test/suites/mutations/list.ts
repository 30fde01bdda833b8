import { accessMutations } from './access.ts';
import { administrationMutations } from './administration.ts';
import { answerMutations } from './answers.ts';
import { boundMutations } from './bounds.ts';
import { cachingMutations } from './caching.ts';
import { moneyMutations } from './money.ts';
import { attackOneMutations } from './attacks-one.ts';
import { attackTwoMutations } from './attacks-two.ts';
import { attackFourMutations } from './attacks-four.ts';
import { attackThreeMutations } from './attacks-three.ts';
import { machineMutations } from './machine.ts';
import { linkMutations } from './links.ts';
import { noticeMutations } from './notices.ts';
import { capacityMutations } from './capacity.ts';
import { organizationMutations } from './organizations.ts';
import { sandboxMutations } from './sandbox.ts';
import { toolMutations } from './tools.ts';

/** A check of the product, and the tests that fail without it. */
export interface Mutation {
  /** The guarantee that the mutation breaks. */
  name: string;
  file: string;
  /** The text of the check, which the file contains once. */
  find: string;
  replace: string;
  project: 'unit' | 'integration' | 'attacks' | 'e2e';
  /** Filters of test files. */
  tests: readonly string[];
}

const temporal = { project: 'integration', tests: ['jobs/temporal-tls'] } as const;
const outcomes = { project: 'integration', tests: ['jobs/stopped', 'jobs/check'] } as const;
const grants = { project: 'unit', tests: ['lib/inputs/grants'] } as const;
const access = { project: 'unit', tests: ['activities/job/granted-access'] } as const;
const twoOrganizations = { project: 'integration', tests: ['jobs/grants'] } as const;

export const mutations: Mutation[] = [
  ...toolMutations,
  ...accessMutations,
  ...administrationMutations,
  ...capacityMutations,
  ...answerMutations,
  ...boundMutations,
  ...cachingMutations,
  ...moneyMutations,
  ...attackOneMutations,
  ...machineMutations,
  ...noticeMutations,
  {
    name: 'workers keep a connection with the credentials of before a rotation',
    file: 'worker/run-workers.ts',
    find: 'for (const worker of workers) worker.connection = connection;',
    replace: '',
    ...temporal,
  },
  {
    name: 'the API keeps a connection with the credentials of before a rotation',
    file: 'lib/temporal/temporal-connection.ts',
    find: 'connection = open(next);',
    replace: '',
    ...temporal,
  },
  {
    name: 'a turn that a limit made finish counts as complete',
    file: 'activities/tools/run-calls.ts',
    find: 'isLast ? finish.complete !== true : finish.complete === false',
    replace: 'finish.complete === false',
    ...outcomes,
  },
  {
    name: 'an attempt that Temporal took for dead runs the tools of the answer that it stored',
    file: 'activities/attempt.ts',
    find: '    signal.throwIfAborted();\n',
    replace: '',
    project: 'unit',
    tests: ['activities/attempt'],
  },
  {
    name: 'a partial change is no draft',
    file: 'activities/publish/publisher.ts',
    find: 'job.draft || text.incomplete !== null',
    replace: 'job.draft',
    ...outcomes,
  },
  {
    name: "an overtaken attempt deletes the published pull request's branch",
    file: 'activities/publish/publisher.ts',
    find: '.fence !== fence + 1) return;',
    replace: '.fence < 1) return;',
    project: 'integration',
    tests: ['jobs/twice'],
  },
  {
    name: 'an attempt of an ended turn sets the tree of the newer one',
    file: 'db/for-worker/job-branches.ts',
    find: 'if (active.rowCount !== 1) return true;',
    replace: '',
    project: 'integration',
    tests: ['db/job-branches'],
  },
  {
    name: 'the results of an ended turn change the tree of the newer one',
    file: 'db/for-worker/steps.ts',
    find: ' and ${ofActiveTurn}',
    replace: '',
    project: 'integration',
    tests: ['db/steps'],
  },
  {
    name: 'an overtaken attempt completes a turn that went on with a message',
    file: 'db/for-worker/job-writes.ts',
    find: "waiting_messages = 0 and ${noStepAfter('$7')}",
    replace: 'waiting_messages = 0',
    project: 'integration',
    tests: ['db/job-messages', 'jobs/twice'],
  },
  {
    name: 'an overtaken attempt publishes what the turn that continued has half done',
    file: 'db/for-worker/effects.ts',
    find: "and ${noStepAfter('$5')}",
    replace: '',
    project: 'integration',
    tests: ['jobs/twice'],
  },
  {
    name: 'a look that is late reopens a merged pull request',
    file: 'db/for-worker/job-branches.ts',
    find: "and pr_state is distinct from 'merged'",
    replace: '',
    project: 'integration',
    tests: ['webhooks/events'],
  },
  {
    name: 'a failure that is recorded late marks a site that was indexed since',
    file: 'db/for-worker/site-indexing.ts',
    find: 'or index_requested_at >= $4::timestamptz',
    replace: 'or true',
    project: 'integration',
    tests: ['db/sites'],
  },
  {
    name: 'a worker that stood still merges a pull request that was closed meanwhile',
    file: 'worker/chores/merge-chores.ts',
    find: '!(await merges.isRequested(work.id))',
    replace: 'false',
    project: 'integration',
    tests: ['api/pull-requests'],
  },
  {
    name: 'a check of a gap that stood still ends the newer one',
    file: 'db/for-service/gap-checks.ts',
    find: 'and answered_now is null\n         )`',
    replace: 'and false\n         )`',
    project: 'integration',
    tests: ['db/gaps'],
  },
  {
    name: 'a grant for a folder covers what only begins like it',
    file: 'lib/inputs/grants.ts',
    find: 'target.startsWith(resource.slice(0, -1))',
    replace: 'target.startsWith(resource.slice(0, -2))',
    ...grants,
  },
  {
    name: 'a grant is left by ".." in a path',
    file: 'lib/inputs/grants.ts',
    find: 'isSuspicious(segment) || segment === everything',
    replace: 'segment === everything',
    ...grants,
  },
  {
    name: 'a grant is left by a spelling of an address',
    file: 'lib/inputs/grants.ts',
    find: 'segments.every(isSegment) ?',
    replace: 'segments.length >= 0 ?',
    ...grants,
  },
  {
    name: "the worker's credential needs no grant",
    file: 'activities/job/granted-access.ts',
    find: 'covers(resources, target) ? null : noGrantForCredential(organizationId, target)',
    replace: 'resources.length < 0 ? noGrantForCredential(organizationId, target) : null',
    ...access,
  },
  {
    name: "the worker's forge is had without its grant",
    file: 'activities/forges/forges.ts',
    find: "if (problem !== null) throw new ForgeError('authentication', problem);",
    replace: '',
    ...access,
  },
  {
    name: "a site is read with the worker's credential without a grant",
    file: 'activities/forges/forges.ts',
    find: 'if (refusal(repository) !== null) return null;',
    replace: '',
    ...access,
  },
  {
    name: 'one granted place of a repository is enough',
    file: 'activities/job/granted-access.ts',
    find: 'paths?.every((target)',
    replace: 'paths?.some((target)',
    ...access,
  },
  {
    name: 'a symbolic link leads from a granted place',
    file: 'activities/forges/real-paths.ts',
    find: 'const paths = [path, realPath];',
    replace: 'const paths = [path];',
    ...access,
  },
  {
    name: 'git finds objects outside of a granted repository',
    file: 'activities/forges/real-paths.ts',
    find: 'paths.push(lead);',
    replace: 'void 0;',
    ...access,
  },
  {
    name: "a project's own token does not go before a grant",
    file: 'activities/job/granted-access.ts',
    find: 'credential: own ?? forges.credentialOf(repository, { refusal })',
    replace: 'credential: forges.credentialOf(repository, { refusal }) ?? own',
    ...access,
  },
  {
    name: 'a merge needs no grant',
    file: 'worker/chores/merge-chores.ts',
    find: 'granted.checkRepository(work, work.repository)',
    replace: 'Promise.resolve()',
    ...twoOrganizations,
  },
  {
    name: 'a job is accepted without a grant',
    file: 'api/jobs/create-job.ts',
    find: 'await checkRepositories(project, { repositories: [repository], forgeUrl, needsCredential: !hasCredential });',
    replace: '',
    ...twoOrganizations,
  },
  {
    name: 'a site is accepted without a grant',
    file: 'api/sites/routes-sites.ts',
    find: "if (typeof directory === 'string') await checkDirectory(owner, directory);",
    replace: '',
    ...twoOrganizations,
  },
  {
    name: 'a step opens a repository whose grant was revoked during the job',
    file: 'activities/job/granted-access.ts',
    find: 'await grantsFor(job, job.repository, async () => found.grants)',
    replace: 'found.grants',
    ...twoOrganizations,
  },
  {
    name: 'a job opens its repository without a grant',
    file: 'activities/job/granted-access.ts',
    find: 'await grantsFor(job, repository);',
    replace: 'await grants.resources(job);',
    ...twoOrganizations,
  },
  {
    name: 'organizations share a copy of a repository, whatever the grants',
    file: 'activities/workspaces/mirrors.ts',
    find: '${organizationId} ${repository}',
    replace: '${repository}',
    project: 'integration',
    tests: ['clients/resolve'],
  },
  {
    name: 'the migration grants more than was used',
    file: 'db/migrations/0028-grants.sql',
    find: "where resource not like '%/*' and resource <> ''",
    replace: '',
    project: 'integration',
    tests: ['db/migrate'],
  },
  {
    name: 'the API gets the credentials that grants are about',
    file: 'local/processes/services.ts',
    find: '{ ...env, ...withoutForges }',
    replace: 'env',
    project: 'unit',
    tests: ['local/settings'],
  },
  {
    name: "a project's token goes to another server without asking for a grant",
    file: 'lib/inputs/grants.ts',
    find: 'const isElsewhere = before.forgeUrl !== after.forgeUrl || ',
    replace: 'const isElsewhere = ',
    ...twoOrganizations,
  },
  ...organizationMutations,
  ...attackTwoMutations,
  ...attackThreeMutations,
  ...attackFourMutations,
  ...linkMutations,
  ...sandboxMutations,
];
