import type { Mutation } from './list.ts';

const history = { project: 'integration', tests: ['git/history-tools'] } as const;

/** What the tools of an agent may reach outside of its files. */
export const toolMutations: Mutation[] = [
  {
    name: 'commits that no branch has any more are readable',
    file: 'activities/workspaces/commit-history.ts',
    find: 'return (await isReachable(commit)) ? commit : null;',
    replace: 'return commit;',
    ...history,
  },
  {
    name: 'the name of a commit is passed to git as it is',
    file: 'activities/tools/history/history-ref.ts',
    find: "if (name !== '' && parsed.ok && generations <= mostGenerations) return { name, generations };",
    replace: 'return { name: text, generations };',
    ...history,
  },
  {
    name: 'authors of commits write escape sequences of terminals',
    file: 'activities/tools/history/printable.ts',
    find: '.replaceAll(misleading,',
    replace: ".replaceAll('never',",
    ...history,
  },
];
