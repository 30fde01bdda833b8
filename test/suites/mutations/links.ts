import type { Mutation } from './list.ts';

const answers = { project: 'unit', tests: ['fuzz-links', 'links/check-links'] } as const;
const orders = { project: 'unit', tests: ['activities/publish/inactive-text'] } as const;
const writeText = 'api/assistant/links/write-text.ts';
const writeInline = 'api/assistant/links/write-inline.ts';
const forgeOrders = 'activities/publish/forge-orders.ts';

/** What keeps unknown addresses out of answers, and orders to forges and build services out of what is published. */
export const linkMutations: Mutation[] = [
  {
    name: 'a bar in code cuts a cell of a table',
    file: writeInline,
    find: 'table.mayBeRow(before)',
    replace: 'false',
    ...answers,
  },
  {
    name: 'two adjacent code spans become one',
    file: writeInline,
    find: 'isCodeBehindCode ? ` ${part}` : part',
    replace: 'part',
    ...answers,
  },
  {
    name: 'a link that leads nowhere stays a link',
    file: writeInline,
    find: "piece.kind === 'link' && (inLink || (!piece.isBare && resolve(piece.url) === null))",
    replace: "piece.kind === 'link' && inLink",
    ...answers,
  },
  {
    name: 'code in a link hides its end',
    file: writeInline,
    find: '/[`[\\]]/.test(piece.code)',
    replace: 'false',
    ...answers,
  },
  {
    name: 'a definition of an unknown address leaves',
    file: writeInline,
    find: "return url === null ? '' : `[${piece.label}]: ${writeUrl(url)}`;",
    replace: 'return `[${piece.label}]: ${writeUrl(url ?? piece.url)}`;',
    ...answers,
  },
  {
    name: 'the signs of a bare address stay whole',
    file: writeText,
    find: 'gaps.size === 0 ? units',
    replace: 'gaps.size >= 0 ? units',
    ...answers,
  },
  {
    name: 'names of hosts are not parted',
    file: writeText,
    find: 'breaks.add(start + at);',
    replace: 'breaks.add(-1);',
    ...answers,
  },
  {
    name: 'an unknown address leaves',
    file: writeText,
    find: 'isMail && !isNextToCode ? asMarkup(`\\`${whole}\\``) : asWords(removed)',
    replace: 'asMarkup(whole)',
    ...answers,
  },
  {
    name: 'words behind a bracket become its target',
    file: writeText,
    find: "return before === ']' ? `\\\\${one}` : one;",
    replace: 'return one;',
    ...answers,
  },
  {
    name: 'HTML leaves as it is',
    file: writeText,
    find: "? '&lt;' : '<'",
    replace: "? '<' : '<'",
    ...answers,
  },
  {
    name: 'a line becomes the rule of a table behind code with a bar',
    file: 'api/assistant/links/table-watch.ts',
    find: 'state.line.isBlank && state.before.hasCodeWithBar',
    replace: 'false',
    ...answers,
  },
  {
    name: 'a block of code stays open behind its list or quote',
    file: 'api/assistant/links/check-links.ts',
    find: 'const before = fence.close();',
    replace: "const before = '';",
    ...answers,
  },
  {
    name: 'a line of code ends its block for some readers',
    file: 'api/assistant/links/write-fence.ts',
    find: 'if (end === undefined) return',
    replace: 'if (end === undefined || end !== undefined) return',
    ...answers,
  },
  {
    name: 'a mark in brackets skips checks',
    file: forgeOrders,
    find: "[^[\\]]{0,80})\\]/giu, '($1)']",
    replace: "[^[\\]]{0,80})\\]/giu, '[$1]']",
    ...orders,
  },
  {
    name: "Jira's keys close their issues",
    file: forgeOrders,
    find: '|${jiraKey}|https',
    replace: '|https',
    ...orders,
  },
  {
    name: 'a mark of Azure skips checks',
    file: forgeOrders,
    find: "[/\\*{3}(\\s*no[\\s_-]*ci\\s*)\\*{3}/gi, '($1)'],",
    replace: '',
    ...orders,
  },
  {
    name: 'a trailer skips checks',
    file: forgeOrders,
    find: "[/(skip[\\s_-]*checks)(\\s*):/gi, '$1$2 ='],",
    replace: '',
    ...orders,
  },
  {
    name: "Jira's commands are obeyed",
    file: forgeOrders,
    find: 'hasJiraKey.test(line) ?',
    replace: 'line.length < 0 ?',
    ...orders,
  },
  {
    name: 'people are told',
    file: forgeOrders,
    find: '.replace(mention, `@${gap}`)',
    replace: '',
    ...orders,
  },
  {
    name: 'code in a description orders what the squashed commit does',
    file: 'activities/publish/pull-request-text.ts',
    find: "return withoutMarks(parts.join('\\n\\n'));",
    replace: "return parts.join('\\n\\n');",
    ...orders,
  },
  {
    name: 'a description loads images',
    file: 'activities/publish/inactive-text.ts',
    find: ".replaceAll(/!(?=\\[)/g, '&#33;')",
    replace: '',
    ...orders,
  },
  {
    name: 'words of a model move the cursor of a terminal',
    file: 'cli/commands/output.ts',
    find: '.map(asOneLine)',
    replace: '',
    project: 'unit',
    tests: ['cli/commands/output'],
  },
  {
    name: 'the title of a page turns the words behind it about',
    file: 'search/build/stored-page.ts',
    find: "metadata.title.replaceAll(/[\\s\\p{Cc}\\p{Cf}]+/gu, ' ').trim()",
    replace: 'metadata.title',
    project: 'integration',
    tests: ['assistant/streams'],
  },
];
