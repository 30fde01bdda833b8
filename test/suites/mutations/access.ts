import type { Mutation } from './list.ts';

const endedAccess = { project: 'integration', tests: ['api/ended-access'] } as const;
const paths = { project: 'integration', tests: ['api/paths'] } as const;
const unknownFields = { project: 'integration', tests: ['api/unknown-fields'] } as const;
const allowance = { project: 'integration', tests: ['api/allowance'] } as const;

/** Who may hold what open, and what a limit counts. */
export const accessMutations: Mutation[] = [
  {
    name: 'an answer over MCP goes on when its client has left',
    file: 'api/assistant/answer-question.ts',
    find: 'onAbort(gone, answer.end);',
    replace: 'void gone;',
    project: 'integration',
    tests: ['mcp/answers'],
  },
  {
    name: 'a push needs its grant only when it begins',
    file: 'activities/publish/publisher.ts',
    find: '    await access.repositoryOf(job, signal);\n',
    replace: '',
    project: 'integration',
    tests: ['jobs/grants'],
  },
  {
    name: 'watchers of a job share its events with another organization',
    file: 'api/jobs/job-event-feed.ts',
    find: '`${owner.organizationId} ${jobId}`',
    replace: 'jobId',
    project: 'unit',
    tests: ['api/jobs/job-event-feed'],
  },
  {
    name: 'open answers outlive their access',
    file: 'api/http/streams/open-answers.ts',
    find: 'if (!valid.has(holder)) end(answer);',
    replace: 'void [valid, answer, holder];',
    ...endedAccess,
  },
  {
    name: 'who is let in while others are looked at is sent away',
    file: 'api/http/streams/open-answers.ts',
    find: 'for (const { answer, holder } of held) if (!valid.has(holder)) end(answer);',
    replace:
      'for (const answer of open.values()) if (answer.holder !== null && !valid.has(answer.holder)) end(answer);',
    project: 'unit',
    tests: ['api/http/streams/open-answers'],
  },
  {
    name: 'a busy event loop takes a cut connection for one that lasts',
    file: 'api/http/streams/stream-output.ts',
    find: 'for (let slice = 0; slice < 10; slice += 1) await sleep(ms / 10, ',
    replace: 'await sleep(ms, ',
    project: 'unit',
    tests: ['api/http/streams/stream-output'],
  },
  {
    name: 'authentication does not name the holder of an answer',
    file: 'api/access/request-access.ts',
    find: 'openAnswers.admit(request, caller);',
    replace: '',
    ...endedAccess,
  },
  {
    name: 'a session that was signed out may stay',
    file: 'db/for-service/access.ts',
    find: 'and sessions.revoked_at is null',
    replace: '',
    ...endedAccess,
  },
  {
    name: 'a session may stay beyond its lifetime',
    file: 'db/for-service/access.ts',
    find: 'and sessions.expires_at > now()',
    replace: '',
    ...endedAccess,
  },
  {
    name: 'paths are matched in any case',
    file: 'api/create-router.ts',
    find: ', sensitive: true',
    replace: '',
    ...paths,
  },
  {
    name: 'a slash at the end of a path is ignored',
    file: 'api/create-router.ts',
    find: 'strict: true, ',
    replace: '',
    ...paths,
  },
  {
    name: 'a request may name two hosts',
    file: 'api/http/request-guard.ts',
    find: "hasSeveral(ctx.req, 'host')",
    replace: 'false',
    ...paths,
  },
  {
    name: 'bodies take any field',
    file: 'api/http/closed-object.ts',
    find: "z.strictObject(shape, { error: (issue) => unknownName(issue, 'field') })",
    replace: 'z.object(shape)',
    ...unknownFields,
  },
  {
    name: 'queries take any parameter',
    file: 'api/http/closed-object.ts',
    find: "z.strictObject(shape, { error: (issue) => unknownName(issue, 'query parameter') })",
    replace: 'z.object(shape)',
    ...unknownFields,
  },
  {
    name: 'a blocked address locks right keys out',
    file: 'api/access/verify-key.ts',
    find: 'if (key !== null) {',
    replace: 'if (key !== null && failures.blockedSeconds(addressOf(request)) === 0) {',
    project: 'integration',
    tests: ['api/limits'],
  },
  {
    name: 'each request with an unknown key asks the database',
    file: 'api/access/key-verifier.ts',
    find: 'remember(missing, id, { loadedAt });',
    replace: '',
    project: 'unit',
    tests: ['api/access/key-verifier'],
  },
  {
    name: 'jobs are not counted',
    file: 'db/jobs/jobs.ts',
    find: 'job.counter === undefined ? null : await takeAllowance(client, job.counter)',
    replace: 'null',
    ...allowance,
  },
  {
    name: 'forks are not counted',
    file: 'db/jobs/job-forks.ts',
    find: 'request.counter === undefined ? null : await takeAllowance(client, request.counter)',
    replace: 'null',
    ...allowance,
  },
  {
    name: 'a change is made though nothing is left of its allowance',
    file: 'db/operations/rate-limits.ts',
    find: 'if (!answer.allowed) throw new AllowanceError(counter.policy, answer);',
    replace: '',
    ...allowance,
  },
  {
    name: 'a repeated request is checked against what has changed since',
    file: 'api/jobs/routes-jobs.ts',
    find: '(await creation.findEarlier(caller, request)) ??',
    replace: '',
    ...allowance,
  },
];
