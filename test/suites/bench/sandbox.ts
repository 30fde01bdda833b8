import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createEgress } from '../../../lib/network/egress.ts';
import { openSandbox } from '../../../activities/sandbox/open-sandbox.ts';
import type { BenchOptions } from './support/options.ts';
import { figure, median, printNote, printTable, quantile } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';

const execute = promisify(execFile);
const signal = new AbortController().signal;
const limits = { memoryBytes: 2 ** 31, processes: 256, diskBytes: 200 * 2 ** 20 };

/** The overhead of the sandbox, compared with the same command without it; the two take turns. */
export async function benchSandbox(_: BenchServers, { isQuick }: BenchOptions): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'docket-bench-sandbox-'));
  try {
    const alone = await openSandbox({ directory: join(directory, 'sandbox'), limits });
    const network = { hosts: ['bench.invalid'], egress: createEgress() };
    const online = await openSandbox({ directory: join(directory, 'online'), limits, network });
    if (alone.sandbox === null || online.sandbox === null) {
      printNote(alone.problem ?? online.problem ?? '');
      return;
    }
    const sizes = isQuick ? [100] : [100, 1_000, 10_000];
    const cases = [
      ...sizes.map((files) => ({ files, sandbox: alone.sandbox, name: files.toLocaleString('en-US') })),
      ...sizes
        .slice(0, 2)
        .map((files) => ({ files, sandbox: online.sandbox, name: `${files.toLocaleString('en-US')}, hosts` })),
    ];
    const rows = [];
    for (const { files, sandbox, name } of cases) {
      const tree = await mkdtemp(join(directory, 'tree-'));
      await fillTree(tree, files);
      const bare: number[] = [];
      const contained: number[] = [];
      for (let round = -5; round < (isQuick ? 50 : 200); round += 1) {
        const startedAt = performance.now();
        await execute('sh', ['-c', 'true'], { cwd: tree });
        const between = performance.now();
        await sandbox.run({ jobId: 'job', tree, command: 'true', timeoutMs: 30_000, signal });
        if (round < 0) continue;
        bare.push(between - startedAt);
        contained.push(performance.now() - between);
      }
      const [without, with_] = [median(bare), median(contained)];
      const p95 = quantile(contained, 0.95);
      const added = p95 - quantile(bare, 0.95);
      rows.push([name, ...[without, with_, p95, added, with_ / without].map(figure)]);
    }
    const header = ['files', 'bare ms', 'sandbox ms', 'sandbox p95', 'p95 added', 'times bare'];
    printTable(
      `sandbox: a command that does nothing, as ${process.getuid?.() === 0 ? 'root' : 'an ordinary user'}`,
      header,
      rows,
    );
    printNote(
      'aims: p95 added ≤ 20 ms in a tree of 1,000 files, 10,000 files as fast; "hosts" is with DOCKET_RUN_HOSTS',
    );
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function fillTree(tree: string, files: number): Promise<void> {
  for (let at = 0; at < files; at += 1) {
    const folder = join(tree, `section-${at % 50}`);
    if (at < 50) await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `page-${at}.md`), `# Page ${at}\n`);
  }
}
