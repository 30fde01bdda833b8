import type { Mutation } from '../list.ts';

const readerTokens = { project: 'integration', tests: ['assistant/reader-tokens'] } as const;
const whole = { project: 'integration', tests: ['assistant/whole'] } as const;

const reranking = { project: 'integration', tests: ['assistant/reranking'] } as const;
const rewriting = { project: 'integration', tests: ['assistant/query-rewriting.'] } as const;
const evaluated = { project: 'integration', tests: ['sites/evaluated-configurations'] } as const;
const evaluatedQueries = { project: 'integration', tests: ['sites/evaluated-queries'] } as const;
const cited = { project: 'unit', tests: ['assistant/citations/cited-passages'] } as const;
const turn = { project: 'integration', tests: ['assistant/turn'] } as const;
const pathOnSite = { project: 'unit', tests: ['assistant/path-on-site'] } as const;
const checked = { project: 'unit', tests: ['assistant/citations/citations'] } as const;
const vectors = { project: 'integration', tests: ['sites/vectors'] } as const;
const referred = { project: 'unit', tests: ['search/query/referred-texts'] } as const;

/** Limits on the cost of a site’s answers, and checks on what they are found by. */
export const answerMutations: Mutation[] = [
  {
    name: 'vectors of passages with another prefix count as comparable',
    file: 'lib/inputs/embedding-choice.ts',
    find: "passagePrefix === '' ? model : ",
    replace: "passagePrefix !== '\\0' ? model : ",
    ...vectors,
  },
  {
    name: 'passages are embedded without their prefix',
    file: 'activities/sites/index-embedding-thread.ts',
    find: 'prefixed(choice.passagePrefix, text)',
    replace: 'text',
    ...vectors,
  },
  {
    name: 'queries are embedded without their prefix',
    file: 'api/assistant/retrieval/embed-query.ts',
    find: 'prefixed(queryPrefix, value)',
    replace: 'value',
    ...vectors,
  },
  {
    name: 'a call of an answer that breaks off costs nothing of what the model thought',
    file: 'api/assistant/generate.ts',
    find: 'reasoningCharacters += part.delta.length;',
    replace: '',
    project: 'unit',
    tests: ['api/assistant/generate'],
  },
  {
    name: 'images of a question are ignored in silence',
    file: 'api/assistant/message-request.ts',
    find: 'filePart.test(type)',
    replace: "type === 'file'",
    project: 'integration',
    tests: ['assistant/turn'],
  },
  {
    name: 'pages of every group are suggested',
    file: 'search/query/suggest.ts',
    find: 'hidden: hasRestricted ? hiddenFrom(access) : null',
    replace: 'hidden: hasRestricted ? null : hiddenFrom(access)',
    project: 'unit',
    tests: ['search/query/page-access'],
  },
  {
    name: 'suggestions take every reader for a member of all groups',
    file: 'api/sites/routes-search.ts',
    find: 'const found = await reading.withIndex({ site, access }, (index) =>',
    replace: "const found = await reading.withIndex({ site, access: access === null ? access : 'all' }, (index) =>",
    ...readerTokens,
  },
  {
    name: 'a whole answer draws on pages of every group',
    file: 'api/assistant/routes.ts',
    find: 'if (!request.isStream) return sendWhole(deps, ctx, question);',
    replace: "if (!request.isStream) return sendWhole(deps, ctx, { ...question, access: 'all' });",
    ...readerTokens,
  },
  {
    name: 'a whole answer goes on when its client has left',
    file: 'api/assistant/routes.ts',
    find: 'gone: clientGone(ctx.res),',
    replace: 'gone: new AbortController().signal,',
    ...whole,
  },
  {
    name: 'passages that a reranking model leaves out are lost',
    file: 'api/assistant/retrieval/rerank-passages.ts',
    find: 'return [...new Set([...ranked, ...hits])];',
    replace: 'return [...new Set(ranked)];',
    ...reranking,
  },
  {
    name: 'a reranking model repeats passages',
    file: 'api/assistant/retrieval/rerank-passages.ts',
    find: 'return [...new Set([...ranked, ...hits])];',
    replace: 'return [...ranked, ...hits];',
    ...reranking,
  },
  {
    name: 'a reranking model is sent passages of any length',
    file: 'api/assistant/retrieval/rerank-passages.ts',
    find: ".join('\\n').slice(0, maxPassageLength);",
    replace: ".join('\\n');",
    ...reranking,
  },
  {
    name: 'a reranking model does not see what a follow-up question refers to',
    file: 'api/assistant/retrieval/search-passages.ts',
    find: "return [...referred, query].join('\\n');",
    replace: 'return referred.length === -1 ? query : query;',
    ...reranking,
  },
  {
    name: 'a follow-up question is searched for without what it refers to',
    file: 'search/query/referred-texts.ts',
    find: 'referred.unshift(text);',
    replace: '',
    ...referred,
  },
  {
    name: 'a question refers to the whole conversation',
    file: 'search/query/referred-texts.ts',
    find: 'if (referred.length === maxTexts || ',
    replace: 'if (',
    ...referred,
  },
  {
    name: 'a question that names its own subject refers to earlier ones',
    file: 'search/query/referred-texts.ts',
    find: '|| !needsOtherTexts(current)) break;',
    replace: ') break;',
    ...referred,
  },
  {
    name: 'a reply that is no query is searched for',
    file: 'api/assistant/retrieval/rewrite-query.ts',
    find: 'return isQuery ? query : null;',
    replace: 'return isQuery ? query : query;',
    ...rewriting,
  },
  {
    name: 'a question waits for its query as long as it takes',
    file: 'api/assistant/retrieval/rewrite-query.ts',
    find: "instead: 'searching without it', timeoutMs });",
    replace: "instead: 'searching without it', timeoutMs: 600_000 });",
    ...rewriting,
  },
  {
    name: 'a model that rewrites sees a page that the reader filtered out',
    file: 'api/assistant/retrieve.ts',
    find: 'index.page(currentPath, filter)',
    replace: 'index.page(currentPath, filter === undefined ? filter : null)',
    ...rewriting,
  },
  {
    name: 'a first question is rewritten',
    file: 'api/assistant/retrieval/rewrite-query.ts',
    find: 'if (!isFollowUp && context.length === 0 && (page === null || !needsOtherTexts(question))) return null;',
    replace: 'if (context.length > 50 && !isFollowUp && !needsOtherTexts(question)) return null;',
    ...rewriting,
  },
  {
    name: 'a query of one site is used for another',
    file: 'api/assistant/retrieval/rewrite-query.ts',
    find: 'JSON.stringify([modelName, site.id, given])',
    replace: 'JSON.stringify([modelName, given])',
    ...rewriting,
  },
  {
    name: 'the query that was searched for is not stored',
    file: 'api/assistant/assistant.ts',
    find: 'searchQuery: query,\n      },',
    replace: 'searchQuery: null,\n      },',
    ...rewriting,
  },
  {
    name: 'a gap lists a follow-up question without what it refers to',
    file: 'db/sites/conversations.ts',
    find: 'coalesce(question.search_query, question.content)',
    replace: 'coalesce(question.content, question.search_query)',
    ...rewriting,
  },
  {
    name: 'an evaluation asks a follow-up question without its conversation',
    file: 'api/evaluations/run-evaluations.ts',
    find: 'history: question.history,',
    replace: '',
    ...evaluatedQueries,
  },
  {
    name: 'an evaluation rewrites questions as the site does, not as its configuration says',
    file: 'api/evaluations/run-evaluations.ts',
    find: 'site: { ...site, instructions, queryRewriting },',
    replace: 'site: { ...site, instructions, queryRewriting: queryRewriting && site.queryRewriting },',
    ...evaluatedQueries,
  },
  {
    name: 'an evaluation asks one model for both configurations',
    file: 'api/evaluations/run-evaluations.ts',
    find: 'configurations.map(({ model }) => deps.assistantOf(model));',
    replace: "configurations.map(() => deps.assistantOf(configurations[0]?.model ?? ''));",
    ...evaluated,
  },
  {
    name: "an evaluation asks with the site's instructions, not with those of its configuration",
    file: 'api/evaluations/run-evaluations.ts',
    find: 'site: { ...site, instructions, queryRewriting },',
    replace: 'site: { ...site, queryRewriting },',
    ...evaluated,
  },
  {
    name: 'the folder below which a site is published hides the page of the reader',
    file: 'api/assistant/assistant.ts',
    find: 'pathOnSite(currentPath, { site, index })',
    replace: 'currentPath',
    ...turn,
  },
  {
    name: 'the path of the published site comes before the path that a page has',
    file: 'api/assistant/path-on-site.ts',
    find: '[sent, `/${address}`, ...paths]',
    replace: '[...paths, `/${address}`, sent]',
    ...pathOnSite,
  },
  {
    name: 'a citation names a passage of a page that the sentence does not cite',
    file: 'api/assistant/citations/cited-passages.ts',
    find: 'read.filter(({ passage }) => paths.includes(passage.path))',
    replace: 'read',
    ...cited,
  },
  {
    name: 'a sentence without a source is given a passage that says something else',
    file: 'api/assistant/citations/cited-passages.ts',
    find: 'paths.length === 0 && best.share < minShareWithoutLink',
    replace: 'false',
    ...cited,
  },
  {
    name: 'a citation names a passage without the facts of the sentence',
    file: 'api/assistant/citations/cited-passages.ts',
    find: ' + (factsShare * stated.length) / (facts.length || 1)',
    replace: '',
    ...cited,
  },
  {
    name: 'a citation names no further passage for the facts that the first lacks',
    file: 'api/assistant/citations/cited-passages.ts',
    find: 'candidate === best || adds',
    replace: 'candidate === best',
    ...cited,
  },
  {
    name: 'a number counts as supported by another sentence of its passage',
    file: 'api/assistant/citations/misplaced-numbers.ts',
    find: "(fact === undefined || containsFact(texts[at] ?? '', fact))",
    replace: 'true',
    ...checked,
  },
  {
    name: 'a number counts as supported by a passage about something else',
    file: 'api/assistant/citations/citations.ts',
    find: 'own.length > 0 && !isMisplaced(fact, { sentence, own, others })',
    replace: 'own.length > 0',
    ...checked,
  },
  {
    name: 'a page that the model was not shown supports what other pages say',
    file: 'api/assistant/citations/citations.ts',
    find: "sentence.replaceAll(wholeLinks, ']'), evidence: [] }",
    replace: "sentence.replaceAll(wholeLinks, ']'), evidence: shown }",
    ...checked,
  },
];
