import type { Mutation } from './list.ts';

const history = { project: 'integration', tests: ['git/history-tools'] } as const;

const servers = { project: 'integration', tests: ['mcp-client/servers'] } as const;
const hostile = { project: 'integration', tests: ['mcp-client/hostile-servers'] } as const;

const readPages = { project: 'integration', tests: ['fetch/pages'] } as const;
const pages = { project: 'integration', tests: ['fetch/hostile-pages'] } as const;

const pictures = { project: 'unit', tests: ['images/image'] } as const;
const storedImages = { project: 'integration', tests: ['api/job-images'] } as const;

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
    file: 'activities/tools/tool-output.ts',
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
  {
    name: 'a redirect leads to any host',
    file: 'activities/tools/fetch/fetch-page.ts',
    find: 'url = checked(location, url);',
    replace: 'url = new URL(location, url);',
    ...pages,
  },
  {
    name: 'the operator does not limit the hosts of a project',
    file: 'activities/tools/fetch/fetch-page.ts',
    find: 'const hosts = commonHosts(wanted, operators);',
    replace: 'const hosts = [...wanted, ...operators.slice(0, 0)];',
    ...readPages,
  },
  {
    name: 'a pattern of the operator covers private addresses',
    file: 'activities/tools/fetch/fetch-page.ts',
    find: 'privateHosts.filter((host) => hosts.includes(host))',
    replace: '[...privateHosts]',
    ...pages,
  },
  {
    name: 'an address with a secret is requested',
    file: 'activities/tools/fetch/fetch-page.ts',
    find: 'if (maskSecrets(url.href) !== url.href)',
    replace: "if (maskSecrets('') === url.href)",
    ...readPages,
  },
  {
    name: 'a page expands without a limit',
    file: 'activities/tools/fetch/fetch-page.ts',
    find: 'if (size > mostBytes) throw',
    replace: 'if (size > 250e6) throw',
    ...pages,
  },
  {
    name: 'a page takes any time',
    file: 'activities/tools/fetch/fetch-page.ts',
    find: 'AbortSignal.any([signal, batch, AbortSignal.timeout(pageMs)])',
    replace: 'AbortSignal.any([signal, batch])',
    ...pages,
  },
  {
    name: 'pages of any type are read',
    file: 'activities/tools/fetch/page-text.ts',
    find: 'textTypes.test(essence)',
    replace: 'textTypes.test(essence) || essence.length > 0',
    ...pages,
  },
  {
    name: 'HTML is parsed however deep it is nested',
    file: 'search/read/formats/html.ts',
    find: 'if (mostOpenIn(text) > mostOpen) return null;\n  const root = fromHtml(text);\n  const title = wordsOf',
    replace: 'const root = fromHtml(text);\n  const title = wordsOf',
    ...pages,
  },
  {
    name: 'a host covers names that only end like it',
    file: 'lib/inputs/fetch-hosts.ts',
    find: 'name.endsWith(`.${limit.name}`)',
    replace: 'name.endsWith(limit.name)',
    project: 'unit',
    tests: ['inputs/fetch-hosts'],
  },
  {
    name: 'a pattern covers every name of a top-level domain',
    file: 'lib/inputs/fetch-hosts.ts',
    find: "name !== host && !name.includes('.')",
    replace: 'name.length < 0',
    project: 'unit',
    tests: ['inputs/fetch-hosts'],
  },
  {
    name: 'an image may have any number of pixels',
    file: 'lib/images/image.ts',
    find: 'if (width > longestSide || height > longestSide || width * height > mostPixels)',
    replace: 'if (width > 1e9)',
    ...pictures,
  },
  {
    name: 'what follows an image is stored with it',
    file: 'lib/images/image.ts',
    find: 'bytes: bytes.subarray(0, end)',
    replace: 'bytes',
    ...pictures,
  },
  {
    name: 'parts of a PNG have any checksum',
    file: 'lib/images/image.ts',
    find: 'if (bytes.readUInt32BE(end - 4) !== crc32(bytes.subarray(at + 4, end - 4))) return null;',
    replace: '',
    project: 'attacks',
    tests: ['pictures'],
  },
  {
    name: 'a job has any number of images',
    file: 'db/jobs/job-images.ts',
    find: 'if (count > mostJobImages || bytes > mostJobImageBytes)',
    replace: 'if (count > 1e6)',
    ...storedImages,
  },
  {
    name: 'an image of another organization is returned',
    file: 'db/jobs/job-images.ts',
    find: " and hash = $2 and ${isJobOf('$1', '$3')}`",
    replace: ' and hash = $2 and $3::text is not null`',
    project: 'integration',
    tests: ['api/owned-stores'],
  },
  {
    name: 'images are taken for a model that cannot see',
    file: 'api/jobs/prompt-images.ts',
    find: 'if (images.length === 0 || seesImages(model)) return;',
    replace: 'if (images.length >= 0) return;',
    ...storedImages,
  },
  {
    name: 'images are sent to a model that cannot see',
    file: 'activities/model/spending.ts',
    find: 'prices.seesImages(model) ? undefined : blind',
    replace: 'undefined',
    project: 'integration',
    tests: ['jobs/model-images'],
  },
  {
    name: 'images stay when the transcript goes',
    file: 'db/for-worker/retention.ts',
    find: 'delete from job_images using old where job_id = id',
    replace: 'delete from job_images using old where job_id = id and false',
    project: 'integration',
    tests: ['db/transcript-retention'],
  },
];
