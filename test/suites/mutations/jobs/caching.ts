import type { Mutation } from '../list.ts';

const transcript = { project: 'unit', tests: ['activities/model/transcript/transcript'] } as const;
const wire = { project: 'integration', tests: ['jobs/model/prompt-cache'] } as const;
const keys = { project: 'integration', tests: ['models/prompt-cache'] } as const;
const replay = { project: 'unit', tests: ['worker/replay/exact-question'] } as const;

/** The prefix of requests that providers cache. */
export const cachingMutations: Mutation[] = [
  {
    name: 'each step masks outputs, so that no cached prefix lasts',
    file: 'activities/model/transcript/masking.ts',
    find: 'Math.max(keptCharacters, 2 * recent)',
    replace: '0',
    ...transcript,
  },
  {
    name: 'the requests of earlier versions cannot be rebuilt',
    file: 'worker/replay/exact-question.ts',
    find: '[maskInChunks, maskInTens]',
    replace: '[maskInChunks]',
    ...replay,
  },
  {
    name: 'a call writes nothing that the next one could read from the cache',
    file: 'activities/model/prompt-cache.ts',
    find: ', messages.length - 1]',
    replace: ']',
    ...wire,
  },
  {
    name: 'a call does not find what the call before wrote if that had many parts',
    file: 'activities/model/prompt-cache.ts',
    find: 'answered - 1, ',
    replace: '',
    ...wire,
  },
  {
    name: 'the tokens that a provider writes to its cache are forgotten',
    file: 'activities/model/store-answer.ts',
    find: '      cacheWriteTokens: answer.details.cacheWriteTokens,\n',
    replace: '',
    ...wire,
  },
  {
    name: 'a price of input alone makes the cache as expensive as other input',
    file: 'models/prices.ts',
    find: 'cachedInput = listed.cachedInput * factor',
    replace: 'cachedInput = own.input',
    project: 'unit',
    tests: ['models/prices'],
  },
  {
    name: 'a job sends no cache key and no breakpoints',
    file: 'activities/model/ask-step.ts',
    find: 'lastBefore === null ? jobId : undefined',
    replace: 'undefined',
    ...wire,
  },
  {
    name: 'a strict server is sent a field that it refuses',
    file: 'models/registry.ts',
    find: 'sendsCacheKey ? ',
    replace: 'true ? ',
    ...keys,
  },
  {
    name: 'a gateway that accepts no marks is sent some',
    file: 'models/registry.ts',
    find: 'marksPrefixes && key !== undefined',
    replace: 'key !== undefined',
    ...keys,
  },
  {
    name: 'a gateway caches nothing that the next call could read',
    file: 'models/gateway-cache.ts',
    find: 'answered - 1, messages.length - 1',
    replace: 'answered - 1',
    ...keys,
  },
  {
    name: 'a message changes for a gateway once its mark moves on',
    file: 'models/gateway-cache.ts',
    find: ' : parts }',
    replace: ' : content }',
    ...wire,
  },
  {
    name: 'the input that a job read from a cache is not added up',
    file: 'db/for-worker/steps.ts',
    find: 'cached_tokens = jobs.cached_tokens + $13, ',
    replace: '',
    project: 'integration',
    tests: ['db/jobs/steps'],
  },
];
