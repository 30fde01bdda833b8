import type { Mutation } from '../list.ts';

const money = { project: 'integration', tests: ['jobs/model/money'] } as const;
const fallback = { project: 'integration', tests: ['jobs/model/fallback'] } as const;
const settings = { project: 'integration', tests: ['models/model-settings'] } as const;
const asked = { project: 'integration', tests: ['db/jobs/model-call-leases'] } as const;

/** Model calls whose answers never come. */
export const moneyMutations: Mutation[] = [
  {
    name: 'a call that breaks off costs nothing',
    file: 'models/used-tokens.ts',
    find: 'isUncharged(error) ? noTokens : likelyTokens(length)',
    replace: 'isUncharged(error) ? likelyTokens(length) : noTokens',
    ...money,
  },
  {
    name: 'a call that breaks off costs nothing of what had come',
    file: 'activities/model/spending.ts',
    find: 'lengthWith(error.receivedCharacters)',
    replace: 'lengthWith(0)',
    ...money,
  },
  {
    name: 'a call that a provider refuses is counted',
    file: 'models/used-tokens.ts',
    find: '(error.statusCode ?? 0) >= 300 || ',
    replace: '',
    ...money,
  },
  {
    name: 'the limit of a job does not count calls that broke off',
    file: 'db/for-worker/budgets.ts',
    find: 'coalesce(cost_micros, 0) + lost_micros as cost_micros',
    replace: 'coalesce(cost_micros, 0) as cost_micros',
    ...money,
  },
  {
    name: 'a reservation leaves out the definitions of the tools',
    file: 'activities/model/ask-model.ts',
    find: 'name.length + lengthOfTool(agentTool)',
    replace: '0 * lengthOfTool(agentTool)',
    ...money,
  },
  {
    name: 'a call whose worker was killed costs nothing',
    file: 'db/for-worker/model-call-leases.ts',
    find: 'asked_micros as lost from job_steps\n            where job_id = $1',
    replace: '0::bigint as lost from job_steps\n            where job_id = $1',
    ...asked,
  },
  {
    name: 'a call that was answered is counted again as lost',
    file: 'db/for-worker/steps.ts',
    find: 'asked_micros = 0, answered_at = now()',
    replace: 'answered_at = now()',
    ...asked,
  },
  {
    name: 'a call that a killed worker left behind in an ended turn costs nothing',
    file: 'db/for-worker/model-call-leases.ts',
    find: 'asked_micros as lost from job_steps\n          where asked_micros > 0',
    replace: '0::bigint as lost from job_steps\n          where asked_micros > 0',
    ...asked,
  },
  {
    name: 'an attempt that stood still claims a step whose call is in flight',
    file: 'db/for-worker/step-claims.ts',
    find: "* interval '1 millisecond'\", isFree)",
    replace: "* interval '1 millisecond'\")",
    ...asked,
  },
  {
    name: 'a call is sent although its turn has ended',
    file: 'db/for-worker/model-call-leases.ts',
    find: ' and ${ofActiveTurn}',
    replace: '',
    ...asked,
  },
  {
    name: 'a call is sent although an earlier attempt has stored the answer',
    file: 'db/for-worker/model-call-leases.ts',
    find: ' and response is null for update',
    replace: ' for update',
    ...asked,
  },
  {
    name: 'a fallback is not asked: a job keeps asking a model that is down',
    file: 'activities/model/fallback.ts',
    find: '!downModels.includes(one)',
    replace: 'one !== null',
    ...fallback,
  },
  {
    name: 'a fallback is asked although the provider refuses the key',
    file: 'activities/model/model-failures.ts',
    find: 'goneStatuses.has(cause.statusCode ?? 0)',
    replace: 'finalStatuses.has(cause.statusCode ?? 0)',
    ...fallback,
  },
  {
    name: 'a fallback is asked after a single failure',
    file: 'activities/model/fallback.ts',
    find: 'const failuresBeforeNext = 3;',
    replace: 'const failuresBeforeNext = 1;',
    ...fallback,
  },
  {
    name: 'a fallback that does not exist takes the retries of the others',
    file: 'activities/model/fallback.ts',
    find: '!outage.isGone || failures > 1',
    replace: 'failures > 0',
    ...fallback,
  },
  {
    name: 'a fallback that answers is recorded as the first model, at its price',
    file: 'activities/model/ask-step.ts',
    find: 'return { model: job.model, ...result',
    replace: 'return { model: active.model, ...result',
    ...fallback,
  },
  {
    name: 'a fallback that is dearer is not covered by the reservation',
    file: 'activities/model/spending.ts',
    find: '...job.models.map((model) => mostCostOf({ ...job, model }, characters))',
    replace: 'mostCostOf(job, characters)',
    ...fallback,
  },
  {
    name: 'a fallback reads the reasoning of another model',
    file: 'activities/model/transcript/transcript.ts',
    find: 'step.model !== null && step.model !== model',
    replace: 'step.model === undefined',
    project: 'unit',
    tests: ['activities/model/transcript/transcript', 'worker/replay/exact-question'],
  },
  {
    name: 'the output limit of a job is not sent',
    file: 'activities/model/ask-model.ts',
    find: '        maxOutputTokens: maxOutputTokens ?? undefined,\n',
    replace: '',
    ...settings,
  },
  {
    name: 'the reasoning effort of a job is not sent',
    file: 'activities/model/ask-model.ts',
    find: '        reasoning: reasoningEffort ?? undefined,\n',
    replace: '',
    ...settings,
  },
  {
    name: 'an Idempotency-Key returns a job with other models',
    file: 'api/jobs/create-job.ts',
    find: 'if (hasSettings) requested.push(',
    replace: 'if (false) requested.push(',
    project: 'integration',
    tests: ['api/jobs/job-models'],
  },
];
