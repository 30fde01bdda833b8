/** Between a sign and the name behind it; nothing is seen of it. */
const gap = '\u200b';

const closing = String.raw`clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?|complet(?:e[sd]?|ing)|reopen(?:s|ed|ing)?|hold(?:s|ing)?|wontfix|invalidat(?:e[sd]?|ing)`;
const between = String.raw`[\s:*~\\[]{1,8}(?:issues?\s+)?`;
// of Jira in capitals, of Linear in any letters
const issueKey = String.raw`[A-Z][A-Z0-9_]+-\d+`;
const issue = String.raw`(?:[\w.-]{1,100}\/){0,5}[\w.-]{0,100}\\?[#!]\d+|GH-\d+|${issueKey}|https?:\/\/\S{1,300}\/(?:issues|pulls?|merge_requests|work_items|browse)\/(?:\d+|${issueKey})`;
const hasJiraKey = new RegExp(String.raw`\b${issueKey}`);
const command = /#(?=\p{L})/gu;

/** What forges and build services act upon in a text, and how each is written so that they do not. */
const orders: [pattern: RegExp, written: string][] = [
  // An issue behind a word that closes or opens it: GitHub, GitLab, Gitea, Forgejo, Bitbucket, Azure, Jira, Linear
  [new RegExp(String.raw`\b(${closing})(${between})(${issue})`, 'gi'), '$1$2($3)'],
  // [skip ci] in the spelling of each service, for it or for all: words in any order, joined by blanks, _ or -
  [/\[([^[\]]{0,80}(?:skip|no[\s_-]*(?:ci|actions))[^[\]]{0,80})\]/giu, '($1)'],
  // Azure Pipelines
  [/\*{3}(\s*no[\s_-]*ci\s*)\*{3}/gi, '($1)'],
  // The trailer of GitHub and Azure, which Azure finds anywhere
  [/(skip[\s_-]*checks)(\s*):/gi, '$1$2 ='],
  // Codeship
  [/--(?=skip-ci|ci-skip)/gi, ''],
];
const mention = /(?<!\w)@(?=\w)/g;

/** Text in which no issue changes and no check is skipped, in code either: a squashed request becomes a commit, where nothing is code. */
export function withoutMarks(text: string): string {
  const inactive = orders.reduce((left, [pattern, written]) => left.replace(pattern, written), text);
  // Jira takes each word behind # for a command in a line that names an issue
  const lines = inactive.split('\n').map((line) => (hasJiraKey.test(line) ? line.replace(command, `#${gap}`) : line));
  return lines.join('\n');
}

/** Text that tells nobody, too. */
export function withoutOrders(text: string): string {
  return withoutMarks(text).replace(mention, `@${gap}`);
}
