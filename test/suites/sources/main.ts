import { posix } from 'node:path';
import { z } from 'zod';
import { createGit } from '../../../activities/git/git.ts';
import { createGitIncludes } from '../../../activities/workspaces/included-files.ts';
import { folderRevision, readGitFolder, type FolderFile } from '../../../activities/workspaces/source-folder.ts';
import { printTable } from '../../../cli/commands/output.ts';
import { readTool } from '../../../lib/inputs/tool-arguments.ts';
import { collectPages } from '../../../search/read/read-pages.ts';
import type { SourceFile } from '../../../search/read/source-file.ts';
import type { SourcePage } from '../../../search/read/source-page.ts';
import { createTestHome, removeTestHome } from '../../support/stack/stack.ts';

/**
 * `npm run sources -- [--path FOLDER] [--page PATH] GITDIR…`: reads the documentation of repositories as the service does, and
 * prints what became of it: pages by language and version, sections, and markup that was not converted.
 */

/** Markup that a reader should not see, outside code. */
const leftOver: Record<string, RegExp> = {
  '{{': /\{\{/g,
  ':::': /^\s*:::/gm,
  '..': /^\s*\.\. \S/gm,
  '<Tag': /<[A-Z]\w*[\s/>]/g,
  '{%': /\{%/g,
  ':role:': /:[a-z]\w*:`/g,
  'key:=': /^:[\w-]+: /gm,
};

const { options, words } = readTool({
  command: 'npm run sources --',
  about: 'Reads the documentation of repositories as the service does, and prints what became of it.',
  options: {
    path: z.string().default('').describe('folder of the documentation'),
    page: z.string().optional().describe('prints this page instead'),
    left: z.string().optional().describe('prints the lines with this left-over markup instead'),
  },
  words: { name: 'GITDIR' },
});

const decoder = new TextDecoder();
const signal = new AbortController().signal;
const fileOf = ({ path, name, content }: FolderFile): SourceFile => ({
  path,
  name,
  read: () => decoder.decode(content ?? new Uint8Array()),
});

const withoutCode = (text: string) =>
  text.replaceAll(/^[ \t]*(`{3,}|~{3,})[^]*?(?:^[ \t]*\1|$(?![^]))/gm, '').replaceAll(/(`+)[^`]+\1/g, '');

function countsOf(values: (string | undefined)[]): string {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value ?? '-', (counts.get(value ?? '-') ?? 0) + 1);
  return [...counts].map(([value, count]) => `${value} ${count}`).join(', ');
}

function describe(pages: SourcePage[]): string[] {
  const sections = new Set(
    pages.flatMap(({ metadata: { groups = [] } }) => groups.map((_, at) => groups.slice(0, at + 1).join(' / '))),
  );
  const left = Object.entries(leftOver).flatMap(([name, pattern]) => {
    const count = pages.reduce((sum, { content }) => sum + (withoutCode(content).match(pattern)?.length ?? 0), 0);
    return count === 0 ? [] : [`${name} ${count}`];
  });
  return [
    String(pages.length),
    countsOf(pages.map(({ metadata }) => metadata.language)),
    countsOf(pages.map(({ metadata }) => metadata.version)),
    String(sections.size),
    String(pages.filter(({ order }) => order !== null).length),
    left.join(', '),
  ];
}

function printSamples(pages: SourcePage[]): void {
  const ordered = pages.toSorted((a, b) => (a.order ?? Infinity) - (b.order ?? Infinity));
  for (const share of [0, 0.4, 0.8]) {
    const page = ordered[Math.floor(ordered.length * share)];
    if (page === undefined) continue;
    const { path, metadata, order, content } = page;
    console.log(`\n/${path}  order ${order}  ${JSON.stringify(metadata)}`);
    console.log(content.slice(0, 600).replaceAll(/^/gm, '    '));
  }
}

const home = await createTestHome();
try {
  const git = createGit({ home, transports: ['file'] });
  const rows: string[][] = [];
  for (const gitDir of words) {
    const { stdout } = await git.run({ gitDir, args: ['rev-parse', 'HEAD'], signal });
    const commit = stdout.toString().trim();
    const tree = await folderRevision(git, { gitDir, commit, path: options.path, signal });
    if (tree === null) throw new Error(`${gitDir} has no folder ${options.path} at ${commit}.`);
    const files = await readGitFolder(git, { gitDir, tree, isKnown: () => false, signal });
    const include = createGitIncludes(git, { gitDir, commit, folder: options.path, signal });
    const start = performance.now();
    const { pages, report } = await collectPages<never>(files.map(fileOf), {
      find: () => null,
      readIncluded: async (paths) => (await include(paths)).map(fileOf),
    });
    const seconds = (performance.now() - start) / 1000;
    if (options.page !== undefined) console.log(pages.find(({ path }) => path === options.page)?.content ?? 'No page.');
    else if (options.left !== undefined) {
      for (const { path, content } of pages)
        for (const line of withoutCode(content).split('\n'))
          if (line.includes(options.left)) console.log(`${path}: ${line.slice(0, 200)}`);
    } else {
      printSamples(pages);
      console.log(`\nskipped: ${report.skipped.join(' ')}`);
      rows.push([
        posix.basename(posix.dirname(gitDir)),
        commit.slice(0, 10),
        report.layout ?? '-',
        ...describe(pages),
        `${seconds.toFixed(1)} s`,
      ]);
    }
  }
  if (rows.length > 0)
    printTable(
      ['repository', 'commit', 'tool', 'pages', 'languages', 'versions', 'sections', 'ordered', 'left over', 'time'],
      rows,
    );
} finally {
  await removeTestHome(home);
}
