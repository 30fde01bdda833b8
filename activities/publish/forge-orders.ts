/** Invisible separator between a marker and the name that follows it. */
const gap = '\u200b';

const closing = String.raw`clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?|complet(?:e[sd]?|ing)|reopen(?:s|ed|ing)?|hold(?:s|ing)?|wontfix|invalidat(?:e[sd]?|ing)`;
const between = String.raw`[\s:*~\\[]{1,8}(?:issues?\s+)?`;
// Jira keys are uppercase; Linear accepts any case
const issueKey = String.raw`[A-Z][A-Z0-9_]+-\d+`;
const issue = String.raw`(?:[\w.-]{1,100}\/){0,5}[\w.-]{0,100}\\?[#!]\d+|GH-\d+|${issueKey}|https?:\/\/\S{1,300}\/(?:issues|pulls?|merge_requests|work_items|browse)\/(?:\d+|${issueKey})`;
const hasJiraKey = new RegExp(String.raw`\b${issueKey}`);
const command = /#(?=\p{L})/gu;

/**
 * Patterns that forges and CI services act on, each with its inactive replacement. They ignore case as the services'
 * languages do: in Unicode, where the long s is an S.
 */
const orders: [pattern: RegExp, written: string][] = [
  // An issue after a closing or opening keyword: GitHub, GitLab, Gitea, Forgejo, Bitbucket, Azure, Jira, Linear
  [new RegExp(String.raw`\b(${closing})(${between})(${issue})`, 'giu'), '$1$2($3)'],
  // [skip ci] in the spelling of any service: words in any order, joined by spaces, _ or -
  [/\[([^[\]]{0,80}(?:skip|no[\s_-]*(?:ci|actions))[^[\]]{0,80})\]/giu, '($1)'],
  // Azure Pipelines
  [/\*{3}(\s*no[\s_-]*ci\s*)\*{3}/giu, '($1)'],
  // Trailer of GitHub and Azure, which Azure finds anywhere
  [/(skip[\s_-]*checks)(\s*):/giu, '$1$2 ='],
  // Codeship
  [/(?<!-)-{2,}(?=skip-ci|ci-skip)/giu, ''],
];
/** A name may follow an underscore, which opens or closes emphasis, and GitLab's may start with a dot. */
const mention = /(?<![^\W_])@(?=\.*\w)/g;

/**
 * Returns text that changes no issue and skips no check. Code is included, because a squashed pull request becomes a
 * commit message, where nothing is code.
 */
export function withoutMarks(text: string): string {
  const inactive = orders.reduce((left, [pattern, written]) => left.replace(pattern, written), text);
  // in a line that names an issue, Jira reads each word after # as a command
  const lines = inactive.split('\n').map((line) => (hasJiraKey.test(line) ? line.replace(command, `#${gap}`) : line));
  return lines.join('\n');
}

/** Like `withoutMarks`, and the text also notifies no one. */
export function withoutOrders(text: string): string {
  return withoutMarks(text).replace(mention, `@${gap}`);
}
