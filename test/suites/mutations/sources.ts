import type { Mutation } from './list.ts';

const websites = { project: 'integration', tests: ['sites/website'] } as const;
const issues = { project: 'integration', tests: ['sites/issue'] } as const;

/** Checks on what sites read from other servers. */
export const sourceMutations: Mutation[] = [
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
    find: 'if (!(await robots.allows(url))) {',
    replace: "if (url === '') {",
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
    name: 'issues that are not public are read without groups',
    file: 'activities/sites/threads/read-threads.ts',
    find: 'if (source.groups.length === 0 && !(await client.isPublic())) {',
    replace: 'if (source.prefix === null && !(await client.isPublic())) {',
    ...issues,
  },
  {
    name: 'a credential answers whether issues are public',
    file: 'activities/sites/threads/thread-client.ts',
    find: 'await ask(path, { isAnonymous: true });',
    replace: 'await ask(path);',
    ...issues,
  },
  {
    name: 'pages of issues have no groups',
    file: 'activities/sites/site-source.ts',
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
    find: "if (!isForAll || (threads === 'answered' && !isClosed)) return false;",
    replace: "if (threads === 'answered' && !isClosed) return false;",
    ...issues,
  },
  {
    name: 'secrets in issues are indexed',
    file: 'activities/sites/threads/read-threads.ts',
    find: 'const short = (text: string) => redact(text)',
    replace: 'const short = (text: string) => text',
    ...issues,
  },
];
