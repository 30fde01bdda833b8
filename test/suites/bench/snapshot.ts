import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGit } from '../../../activities/git/git.ts';
import { createWorkspaces } from '../../../activities/workspaces/workspaces.ts';
import { createTestRepository, runTestGit, type TestFiles } from '../../support/git-repository.ts';
import type { BenchOptions } from './support/options.ts';
import { figure, median, printNote, printTable } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';

const changedFiles = 5;
const signal = new AbortController().signal;

/** The cost of a snapshot after a batch that changed files, compared with git's own status of the same tree. */
export async function benchSnapshot(_: BenchServers, { rounds, isQuick }: BenchOptions): Promise<void> {
  const rows = [];
  for (const files of isQuick ? [1_000] : [1_000, 10_000]) rows.push(await benchTree(files, rounds * 4));
  const header = [
    'files',
    'snapshot ms',
    'slowest',
    'pack bytes',
    'git ls-files ms',
    'times git ls-files',
    'opened anew ms',
  ];
  printTable(`snapshot: ${changedFiles} files changed in each batch`, header, rows);
  printNote('aim: ≤ 60 ms for a tree of 1,000 files');
}

async function benchTree(count: number, rounds: number): Promise<(string | number)[]> {
  await using repository = await createTestRepository();
  await using resources = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'docket-bench-snapshot-'));
  resources.defer(() => rm(directory, { recursive: true, force: true }));
  const pages = Array.from({ length: count }, (_, at) => [pathOf(at), `# Page ${at}\n\n${'A line.\n'.repeat(40)}`]);
  await repository.commit(Object.fromEntries(pages) as TestFiles);
  const git = createGit({ home: join(directory, 'home'), transports: ['file'] });
  const workspaces = createWorkspaces({ git, directory: join(directory, 'work') });
  const access = { organizationId: 'org_test', repository: repository.path, credential: null, signal };
  const { commit: baseCommit } = await workspaces.resolve({ ...access, ref: null });

  const times: { snapshot: number[]; listing: number[]; open: number[]; bytes: number[] } = {
    snapshot: [],
    listing: [],
    open: [],
    bytes: [],
  };
  for (let round = 0; round < rounds; round += 1) {
    const jobId = `job-${round}`;
    const beginOpen = performance.now();
    const opened = await workspaces.open({ ...access, jobId, baseCommit, snapshot: null });
    times.open.push(performance.now() - beginOpen);
    for (let change = 0; change < changedFiles; change += 1)
      await writeFile(
        join(opened.path, pathOf((round * changedFiles + change) % count)),
        `Changed in round ${round}.\n`,
      );
    const startedAt = performance.now();
    const { snapshot } = await workspaces.snapshot(jobId, { baseCommit, sinceTree: null, signal });
    times.snapshot.push(performance.now() - startedAt);
    if (snapshot?.changedFiles !== changedFiles) throw new Error('The snapshot does not hold what was changed.');
    times.bytes.push(snapshot.pack.length);
    times.listing.push(await timeListing(directory, { jobId, path: opened.path }));
    await opened.release();
    await workspaces.remove(jobId);
  }
  const [taken, listing] = [median(times.snapshot), median(times.listing)];
  return [
    count.toLocaleString('en-US'),
    figure(taken),
    figure(Math.max(...times.snapshot)),
    figure(median(times.bytes)),
    figure(listing),
    figure(taken / listing),
    figure(median(times.open)),
  ];
}

async function timeListing(directory: string, { jobId, path }: { jobId: string; path: string }): Promise<number> {
  const gitDir = join(directory, 'work', 'jobs', jobId, 'git');
  const index = (await readdir(gitDir)).find((name) => /^index\.[0-9a-f]{40}$/.test(name));
  if (index === undefined) throw new Error('The working copy has no index.');
  const args = ['--git-dir', gitDir, '--work-tree', path, 'ls-files', '--modified', '--others', '--deleted'];
  const startedAt = performance.now();
  await runTestGit(args, { cwd: path, env: { GIT_INDEX_FILE: join(gitDir, index) } });
  return performance.now() - startedAt;
}

function pathOf(at: number): string {
  return `docs/section-${at % 20}/page-${at}.md`;
}
