import type { Mutation } from '../list.ts';

const pageAccess = { project: 'unit', tests: ['search/query/page-access'] } as const;
const keyOrigins = { project: 'integration', tests: ['api/access/key-origins'] } as const;
const requestLimits = { project: 'integration', tests: ['api/access/request-limits'] } as const;
const captcha = { project: 'integration', tests: ['api/access/captcha'] } as const;
const proofOfWork = { project: 'integration', tests: ['api/access/proof-of-work'] } as const;
const readerTokens = { project: 'integration', tests: ['assistant/reader-tokens'] } as const;
const resumeToken = { project: 'integration', tests: ['assistant/resume-token'] } as const;

/** Checks on public keys, on readers and on what they may read. */
export const readerMutations: Mutation[] = [
  {
    name: 'lists of passages are kept for every reader',
    file: 'search/query/candidates.ts',
    find: 'const canIntersect = facets === null && hidden === null;',
    replace: 'const canIntersect = facets === null;',
    ...pageAccess,
  },
  {
    name: 'a proof of work replaces a CAPTCHA',
    file: 'api/access/proof-of-work.ts',
    find: 'if (required !== null && !captcha) throw proofRefused();',
    replace: '',
    ...captcha,
  },
  {
    name: 'the limits of a site count for nothing',
    file: 'api/access/reader-limit.ts',
    find: "...(site === null ? [] : countersOf('site', site.id, site)),",
    replace: '',
    ...requestLimits,
  },
  {
    name: 'a key is used on any website',
    file: 'api/access/request-access.ts',
    find: 'checkOrigin(ctx, caller);',
    replace: '',
    ...keyOrigins,
  },
  {
    name: 'a key for websites is used without an origin',
    file: 'api/access/check-origin.ts',
    find: 'if (!rules.allowsNoOrigin) throw noOrigin();',
    replace: '',
    ...keyOrigins,
  },
  {
    name: 'a key that requires a proof of work is used without one',
    file: 'api/access/request-access.ts',
    find: 'admitReader(ctx, proofs.check)',
    replace: 'admitReader(ctx, () => null)',
    ...proofOfWork,
  },
  {
    name: 'a proof of work is used with another key or on another website',
    file: 'api/access/proof-of-work.ts',
    find: 'if (key !== keyId || origin !== (request.headers.origin ?? null)) throw proofRefused();',
    replace: '',
    ...proofOfWork,
  },
  {
    name: 'a client writes its own challenge',
    file: 'api/access/proof-of-work.ts',
    find: "if (!timingSafeEqual(Buffer.from(signature, 'base64url'), signatureOf(terms))) throw proofRefused();",
    replace: '',
    ...proofOfWork,
  },
  {
    name: 'a proof of work needs no work',
    file: 'api/access/proof-of-work.ts',
    find: "if (zeroBits(createHash('sha256').update(proof).digest()) < bits) throw proofRefused();",
    replace: '',
    ...proofOfWork,
  },
  {
    name: 'a proof of work never expires',
    file: 'api/access/proof-of-work.ts',
    find: 'if (until <= now()) throw proofOutdated();',
    replace: '',
    project: 'unit',
    tests: ['api/access/proof-of-work'],
  },
  {
    name: 'challenges for a key stay easy when many addresses ask for them',
    file: 'api/access/proof-of-work.ts',
    find: '{ key: `challenge-key:${keyId}`, policy: calm.key }',
    replace: '{ key: `challenge-key:${keyId}:${addressOf(request)}`, policy: calm.key }',
    project: 'unit',
    tests: ['api/access/proof-of-work'],
  },
  {
    name: 'one provider of CAPTCHAs is not asked',
    file: 'api/access/routes-challenge.ts',
    find: 'if (!(await verifyCaptcha({ provider, secret, response }))) throw captchaRefused();',
    replace:
      "if (provider === 'turnstile' && !(await verifyCaptcha({ provider, secret, response }))) throw captchaRefused();",
    ...captcha,
  },
  {
    name: 'a proof of work serves any number of requests',
    file: 'api/access/reader-limit.ts',
    find: '[{ key: `assistant-proof:${proofId}`, policy: perProof }]',
    replace: '[]',
    ...proofOfWork,
  },
  {
    name: 'a reader token serves any number of requests',
    file: 'api/access/reader-limit.ts',
    find: '[{ key: `assistant-token:${digestOf(token)}`, policy: perToken }]',
    replace: '[]',
    ...readerTokens,
  },
  {
    name: 'the wildcard of an origin matches several labels',
    file: 'lib/inputs/origin.ts',
    find: '/^[a-z0-9_-]+$/.test(',
    replace: '/^[a-z0-9._-]+$/.test(',
    project: 'unit',
    tests: ['lib/inputs/origin'],
  },
  {
    name: 'a search finds pages of every group',
    file: 'search/query/page-access.ts',
    find: "if (access === 'all') return null;",
    replace: 'return access === null ? String(access) : null;',
    ...pageAccess,
  },
  {
    name: 'a page of another group is read by its path, linked to and listed',
    file: 'search/query/site-index.ts',
    find: 'on own.value = reader.value))`;',
    replace: 'on own.value = reader.value) or ?3 is not null)`;',
    ...pageAccess,
  },
  {
    name: 'groups that cannot be understood open a page to everybody',
    file: 'search/read/front-matter.ts',
    find: 'return isEmpty ? null : (listOf(groups) ?? []);',
    replace: 'return isEmpty ? null : (listOf(groups) ?? null);',
    ...pageAccess,
  },
  {
    name: 'malformed front matter opens a page of a group to everybody',
    file: 'search/read/front-matter.ts',
    find: '? { groups: {} } : {}',
    replace: '? {} : {}',
    ...pageAccess,
  },
  {
    name: 'the last of two lists of groups counts',
    file: 'search/read/front-matter.ts',
    find: 'isGroups(one.value) && isGroups(other.value),',
    replace: 'isGroups(one.value) && isGroups(null),',
    ...pageAccess,
  },
  {
    name: 'a page may include the text of a page for groups',
    file: 'search/read/front-matter.ts',
    find: 'groupsOf(page.values) === null && !headerWithGroups.test(page.body) ? page : null',
    replace: 'page',
    ...pageAccess,
  },
  {
    name: 'an answer draws on pages of every group',
    file: 'api/assistant/answer-question.ts',
    find: 'await indexes.lease(site, access)',
    replace: "await indexes.lease(site, access === null ? access : 'all')",
    ...readerTokens,
  },
  {
    name: 'every page of a site is served over MCP',
    file: 'api/mcp/routes.ts',
    find: 'reader: { site, access },',
    replace: "reader: { site, access: access === null ? access : 'all' },",
    ...readerTokens,
  },
  {
    name: 'a token of a reader is valid on every site',
    file: 'api/access/reader-access.ts',
    find: '      audience,\n',
    replace: '',
    ...readerTokens,
  },
  {
    name: 'a token of a reader may choose its algorithm',
    file: 'api/access/reader-access.ts',
    find: '      algorithms: [algorithm],\n',
    replace: '',
    ...readerTokens,
  },
  {
    name: 'every reader of a chat resumes its reply',
    file: 'db/sites/replies.ts',
    find: 'and resume_digest = $5',
    replace: 'and $5::bytea is not null',
    ...resumeToken,
  },
  {
    name: 'a reply is resumed at another site',
    file: 'db/sites/replies.ts',
    find: 'where site_id = $1 and chat_id = $2',
    replace: 'where $1::text is not null and chat_id = $2',
    ...resumeToken,
  },
];
