import type { Mutation } from './list.ts';

const history = { project: 'integration', tests: ['git/history-tools'] } as const;

const servers = { project: 'integration', tests: ['mcp-client/servers'] } as const;
const hostile = { project: 'integration', tests: ['mcp-client/hostile-servers'] } as const;

/** Checks on tools that reach outside of the working copy. */
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
  {
    name: 'a tool that has changed since the turn began is called',
    file: 'activities/mcp/call-tools.ts',
    find: 'if (today === undefined || hashOfTool(today) !== hash)',
    replace: 'if (today === undefined)',
    ...servers,
  },
  {
    name: 'a call that changes something is sent again after a kill',
    file: 'activities/mcp/call-tools.ts',
    find: 'if (earlier !== undefined) return earlier.output ?? unknownOutcome;',
    replace: '',
    ...servers,
  },
  {
    name: 'patterns of a server are kept',
    file: 'activities/mcp/tool-schema.ts',
    find: '...typed(node),',
    replace: '...typed(node), pattern: String(node["pattern"]),',
    ...servers,
  },
  {
    name: 'the text of a server closes its fence',
    file: 'activities/mcp/result-text.ts',
    find: "'`'.repeat(longest + 1)",
    replace: "'```'",
    ...servers,
  },
  {
    name: 'a redirect of a server is followed',
    file: 'activities/mcp/mcp-fetch.ts',
    find: "if (status >= 300 && status < 400) return 'redirects, which is not followed';",
    replace: '',
    ...hostile,
  },
  {
    name: 'a response of a server has any number of values',
    file: 'activities/mcp/mcp-fetch.ts',
    find: 'if (problem !== null) throw new McpProblem(`answered with JSON that ${problem}`);',
    replace: '',
    ...hostile,
  },
  {
    name: 'headers of a server go to any address',
    file: 'db/organizations/project-tools.ts',
    find: 'name === server.name && url === server.url',
    replace: 'name === server.name',
    project: 'integration',
    tests: ['api/mcp-servers'],
  },
];
