import type { Mutation } from '../list.ts';

const websites = { project: 'integration', tests: ['sites/website'] } as const;
const crawlFaults = { project: 'integration', tests: ['sites/crawl-faults'] } as const;
const politeCrawl = { project: 'integration', tests: ['sites/polite-crawl'] } as const;
const issues = { project: 'integration', tests: ['sites/issue'] } as const;
const discussions = { project: 'integration', tests: ['sites/discussions'] } as const;
const forum = { project: 'integration', tests: ['sites/forum'] } as const;

/** Checks on what sites read from other servers. */
export const sourceMutations: Mutation[] = [
  {
    name: 'the guard of an index does not hold after an upgrade to another format',
    file: 'activities/sites/site-index.ts',
    find: 'earlierFile !== undefined && !isWithdrawn',
    replace: 'previousFile !== undefined && !isWithdrawn',
    project: 'integration',
    tests: ['sites/index-guard'],
  },
  {
    name: 'an outdated index whose guard refuses the next one is built again every 30 seconds',
    file: 'db/for-worker/site-indexing.ts',
    find: ' and sites.index_failure is distinct from $2`',
    replace: ' and $2::text is not null`',
    project: 'integration',
    tests: ['sites/index-guard'],
  },
  {
    name: 'a crawl follows redirects out of its website',
    file: 'activities/sites/website/crawl.ts',
    find: 'if (withinScope(next, scope) === null) return',
    replace: "if (next === '') return",
    ...websites,
  },
  {
    name: 'a crawl reads what robots.txt does not allow',
    file: 'activities/sites/website/crawl.ts',
    find: 'const isAllowed = await robots.allows(url);',
    replace: "const isAllowed = url !== '';",
    ...websites,
  },
  {
    name: 'a page is published under the address of another website',
    file: 'activities/sites/website/crawl.ts',
    find: '!isRefused && !isElsewhere',
    replace: '!isRefused',
    ...websites,
  },
  {
    name: 'a page that has moved behind a login stays',
    file: 'activities/sites/website/crawl.ts',
    find: 'return error instanceof RedirectError ? null : (known ?? null);',
    replace: 'return known ?? null;',
    ...crawlFaults,
  },
  {
    name: 'a sitemap that fails removes its pages',
    file: 'activities/sites/website/crawl.ts',
    find: 'problem === null ? [] : [...known.keys()]',
    replace: '[]',
    ...crawlFaults,
  },
  {
    name: 'issues that are not public are read without groups',
    file: 'activities/sites/threads/read-threads.ts',
    find: 'source.groups.length === 0 ? await client.problemWithAccess()',
    replace: 'source.prefix === null ? await client.problemWithAccess()',
    ...issues,
  },
  {
    name: 'a credential answers whether issues are public',
    file: 'activities/sites/threads/issue-client.ts',
    find: 'await ask({ path, isAnonymous: true });',
    replace: 'await ask({ path });',
    ...issues,
  },
  {
    name: 'pages of issues have no groups',
    file: 'activities/sites/threads/thread-source.ts',
    find: 'JSON.stringify(groups.length === 0 ? page : {',
    replace: 'JSON.stringify(groups.length >= 0 ? page : {',
    ...issues,
  },
  {
    name: 'issues that are no longer public stay in the index',
    file: 'activities/sites/index-build-thread.ts',
    find: '!parts.some(({ isWithdrawn }) => isWithdrawn)',
    replace: 'parts.length > 0',
    ...issues,
  },
  {
    name: 'confidential issues are read',
    file: 'activities/sites/threads/read-threads.ts',
    find: "if (!isForAll || (threads === 'answered' && !isSettled)) return false;",
    replace: "if (threads === 'answered' && !isSettled) return false;",
    ...issues,
  },
  {
    name: 'secrets in titles of threads are indexed',
    file: 'activities/sites/threads/read-threads.ts',
    find: 'const title = redact(thread.title)',
    replace: 'const title = thread.title',
    ...issues,
  },
  {
    name: 'a token answers whether discussions are public',
    file: 'activities/sites/threads/discussion-client.ts',
    find: 'api.get(path, { isAnonymous: true, signal })',
    replace: 'api.get(path, { signal })',
    ...discussions,
  },
  {
    name: 'hidden replies of discussions are read',
    file: 'activities/sites/threads/discussion-client.ts',
    find: 'if (comment.isMinimized || ',
    replace: 'if (',
    ...discussions,
  },
  {
    name: 'whispers and deleted posts of a forum are read',
    file: 'activities/sites/threads/forum-client.ts',
    find: 'return type === regular && hidden !== true && isDeleted !== true && deletedAt == null;',
    replace: 'return type !== 3 && hidden !== true && isDeleted !== true && deletedAt == null;',
    ...forum,
  },
  {
    name: 'topics of a forum for members only stay in the index',
    file: 'activities/sites/threads/forum-client.ts',
    find: 'return gone.has(status) && refusal.safeParse(data).success;',
    replace: 'return status === 410 && refusal.safeParse(data).success;',
    ...forum,
  },
  {
    name: 'any 403 takes the pages of a forum away',
    file: 'activities/sites/threads/forum-client.ts',
    find: 'return gone.has(status) && refusal.safeParse(data).success;',
    replace: 'return gone.has(status) && data !== undefined;',
    ...forum,
  },
  {
    name: 'a secret that HTML hides is indexed',
    file: 'activities/sites/threads/read-threads.ts',
    find: 'body: redact(page.body)',
    replace: 'body: page.body',
    ...forum,
  },
  {
    name: 'a long thread is read without its accepted answer',
    file: 'activities/sites/threads/forum-client.ts',
    find: 'if (known.length > 0 || named == null) return known;',
    replace: 'if (known.length >= 0 || named == null) return known;',
    ...forum,
  },
  {
    name: 'websites that do not answer take the slots of all sites',
    file: 'worker/create-worker.ts',
    find: 'maxConcurrentActivities: 20 }',
    replace: 'maxConcurrentActivities: 4 }',
    project: 'integration',
    tests: ['sites/several-sources'],
  },
  {
    name: 'threads that are no longer public stay while the documents cannot be read',
    file: 'activities/sites/site-source.ts',
    find: 'if (failure !== null && !sources.some((source) => !(source instanceof Error) && source.isWithdrawn)) throw failure;',
    replace: 'if (failure !== null) throw failure;',
    project: 'integration',
    tests: ['sites/issues'],
  },
  {
    name: 'a crawl waits for nothing between its requests',
    file: 'activities/sites/website/website-client.ts',
    find: 'if (!isFirst) await wait(delayMs, signal);',
    replace: '',
    ...politeCrawl,
  },
  {
    name: 'a crawl ignores the delay that robots.txt asks for',
    file: 'activities/sites/website/robots.ts',
    find: 'client.slowDown(Math.min(delaySeconds * 1_000, maxDelayMs));',
    replace: 'client.slowDown(0);',
    ...politeCrawl,
  },
];
