import type { Mutation } from './list.ts';

const grants = { project: 'unit', tests: ['lib/inputs/grants'] } as const;
const access = { project: 'unit', tests: ['activities/job/granted-access'] } as const;
const twoOrganizations = { project: 'integration', tests: ['jobs/grants'] } as const;

/** Checks on grants, wherever they are used. */
export const grantMutations: Mutation[] = [
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
    find: 'return (await ownCredential(organizationId, repository, refusal)) ?? forges.credentialOf(repository, { refusal });',
    replace:
      'return forges.credentialOf(repository, { refusal }) ?? (await ownCredential(organizationId, repository, refusal));',
    ...access,
  },
  {
    name: 'a merge needs no grant',
    file: 'worker/chores/merge-chores.ts',
    find: 'const checkAccess = () => granted.checkRepository(work, work.repository);',
    replace: 'const checkAccess = () => Promise.resolve();',
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
    find: 'for (const source of used) if (source.directory != null) await checkDirectory(owner, source.directory);',
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
];
