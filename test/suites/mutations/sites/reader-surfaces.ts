import type { Mutation } from '../list.ts';

const pageAccess = { project: 'unit', tests: ['search/query/page-access'] } as const;
const readerTokens = { project: 'integration', tests: ['assistant/reader-tokens'] } as const;
const groupThreads = { project: 'integration', tests: ['assistant/group-threads'] } as const;

/** Every place that shows pages: each must know what its reader may read. */
export const readerSurfaceMutations: Mutation[] = [
  {
    name: 'a cache serves the pages of one reader to others',
    file: 'api/http/mount-routes.ts',
    find: 'if (fields.length > 0) ctx.vary(fields);',
    replace: '',
    project: 'integration',
    tests: ['api/access/vary'],
  },
  {
    name: 'a refusal by the count of one reader token is kept for others',
    file: 'api/http/mount-routes.ts',
    find: ', ...admissionFields[key]',
    replace: '',
    project: 'integration',
    tests: ['api/access/vary'],
  },
  {
    name: 'llms.txt lists pages of every group',
    file: 'api/sites/routes-documents.ts',
    find: 'reading.withIndex({ site, access }, (index) =>\n        linkListOf(',
    replace: "reading.withIndex({ site, access: access === null ? access : 'all' }, (index) =>\n        linkListOf(",
    ...readerTokens,
  },
  {
    name: 'llms-full.txt has pages of every group',
    file: 'api/sites/routes-documents.ts',
    find: 'reading.withIndex({ site, access }, (index) => fullTextOf',
    replace: "reading.withIndex({ site, access: access === null ? access : 'all' }, (index) => fullTextOf",
    ...readerTokens,
  },
  {
    name: 'pages of every group are Markdown files',
    file: 'api/sites/routes-documents.ts',
    find: 'reading.openPage({ site, access },',
    replace: "reading.openPage({ site, access: access === null ? access : 'all' },",
    ...readerTokens,
  },
  {
    name: 'the route for searches takes every reader for a member of all groups',
    file: 'api/sites/routes-search.ts',
    find: 'reading.search({ site, access },',
    replace: "reading.search({ site, access: access === null ? access : 'all' },",
    ...readerTokens,
  },
  {
    name: 'the route for pages takes every reader for a member of all groups',
    file: 'api/sites/routes-search.ts',
    find: 'reading.openPage({ site, access },',
    replace: "reading.openPage({ site, access: access === null ? access : 'all' },",
    ...readerTokens,
  },
  {
    name: 'a search by meaning finds pages of every group',
    file: 'search/query/find-passages.ts',
    find: 'if (own !== null && readers !== null && !textsOf(readers).some((reader) => own.has(reader))) return false;',
    replace: '',
    ...pageAccess,
  },
  {
    name: 'answers over MCP draw on pages of every group',
    file: 'api/mcp/tools.ts',
    find: 'answers.answerWhole({ ...reader, request,',
    replace: "answers.answerWhole({ ...reader, access: 'all', request,",
    ...groupThreads,
  },
  {
    name: 'answers over MCP forget their filter',
    file: 'api/mcp/tools.ts',
    find: 'parseMessageRequest({ ...more, fp: anonymousFingerprint, messages, citations: true })',
    replace: 'parseMessageRequest({ ...more, filter: null, fp: anonymousFingerprint, messages, citations: true })',
    ...groupThreads,
  },
  {
    name: 'a reader without a group resumes the reply of one with it',
    file: 'db/sites/replies.ts',
    find: 'and resume_digest = $5',
    replace: 'and $5::bytea is not null',
    ...groupThreads,
  },
  {
    name: 'readers read conversations',
    file: 'api/sites/routes-threads.ts',
    find: 'params,\n    query: threadQuerySchema,',
    replace: "key: 'assistant',\n    params,\n    query: threadQuerySchema,",
    ...groupThreads,
  },
];
