import type { Mutation } from './list.ts';

const hostile = { project: 'integration', tests: ['models/hostile-model'] } as const;
const job = { project: 'integration', tests: ['jobs/model/hostile-model'] } as const;
const tokens = { project: 'unit', tests: ['models/used-tokens'] } as const;

/** Checks on hostile model servers, page names and request targets. */
export const attackTwoMutations: Mutation[] = [
  {
    name: 'a redirect of a provider is followed',
    file: 'models/provider-fetch.ts',
    find: ", redirect: 'manual' as const",
    replace: '',
    ...hostile,
  },
  {
    name: 'an attempt that was frozen asks the model again',
    file: 'models/provider-fetch.ts',
    find: 'await beforeRequest.getStore()?.();',
    replace: '',
    project: 'integration',
    tests: ['models/confirm'],
  },
  {
    name: 'an answer of a provider has no end',
    file: 'models/provider-fetch.ts',
    find: 'if (left < 0 ||',
    replace: 'if (Number.isNaN(left) ||',
    ...hostile,
  },
  {
    name: 'all calls of an answer are run',
    file: 'activities/model/ask-model.ts',
    find: 'position < maxCalls ?',
    replace: 'position < Infinity ?',
    ...hostile,
  },
  {
    name: 'tokens below nothing are believed',
    file: 'models/used-tokens.ts',
    find: 'tokens !== undefined && tokens >= 0 && tokens <=',
    replace: 'tokens !== undefined && tokens <=',
    ...tokens,
  },
  {
    name: 'a provider that says nothing works for free',
    file: 'models/used-tokens.ts',
    find: 'Math.min(maxTokensOf(characters), maxTokens)',
    replace: '0',
    ...tokens,
  },
  {
    name: 'cached tokens are more than the input',
    file: 'models/used-tokens.ts',
    find: 'isCount(tokens) && tokens <= whole ?',
    replace: 'isCount(tokens) ?',
    ...tokens,
  },
  {
    name: 'a page is named like an address of another site',
    file: 'api/assistant/retrieve.ts',
    find: '${withinSite(page)}',
    replace: '${page}',
    project: 'unit',
    tests: ['api/assistant/retrieve'],
  },
  {
    name: 'the name of a model leads to another address of its provider',
    file: 'models/registry.ts',
    find: '!modelPattern.test(model)',
    replace: '!modelPattern.test(model) && model === name',
    project: 'unit',
    tests: ['models/registry'],
  },
  {
    name: 'the target of a request is a whole address',
    file: 'api/http/request-guard.ts',
    find: "!/^\\/[^#]*$/.test(ctx.req.url ?? '')",
    replace: "(ctx.req.url ?? '').includes('#')",
    project: 'integration',
    tests: ['api/paths'],
  },
  {
    name: 'the secrets of one project rewrite the texts of others',
    file: 'activities/attempt.ts',
    find: 'secrets.during(() => attempt(scope, work))',
    replace: 'attempt(scope, work)',
    project: 'unit',
    tests: ['activities/attempt'],
  },
  {
    name: 'work for one project knows the secrets of all',
    file: 'lib/redaction/known-secrets.ts',
    find: 'if (work === undefined) return',
    replace: 'if (work !== null) return',
    project: 'unit',
    tests: ['lib/redaction/project-secrets'],
  },
  {
    name: 'work for a project does not know what its earlier work learned',
    file: 'lib/redaction/known-secrets.ts',
    find: 'ofProjects.get(projectId) ?? new Set()',
    replace: 'new Set<string>()',
    project: 'unit',
    tests: ['lib/redaction/project-secrets'],
  },
  {
    name: 'a secret in a call is stored because another is a plain word',
    file: 'lib/redaction/known-secrets.ts',
    find: 'values.filter((value) => !plainWord.test(value))',
    replace: 'values.filter(() => false)',
    project: 'unit',
    tests: ['lib/redaction/project-secrets'],
  },
  {
    name: 'the id of a call is stored with a key in it',
    file: 'activities/model/transcript/scrub-answer.ts',
    find: '      toolCallId: mask(call.toolCallId),\n',
    replace: '',
    ...job,
  },
  {
    name: 'what a model says it used is stored as it is',
    file: 'activities/model/ask-model.ts',
    find: 'usedTokens(reportedUsage(usage), length)',
    replace: 'Object.assign(usedTokens({}, length), reportedUsage(usage))',
    ...job,
  },
];
