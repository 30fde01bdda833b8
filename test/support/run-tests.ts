import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { z } from 'zod';

/**
 * `npm test`: formatter, linter and type checker, then every vitest project. A file that needs servers and failed is run
 * once more by itself; what passed only then is named. The closing line is `N passed, N failed`.
 */

const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

interface FileResult {
  file: string;
  passed: number;
  failed: string[];
}

/** Passes signals on: what runs stops its servers first. After one nothing further is run. */
function run(command: string, args: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit' });
    const onSignal = (signal: NodeJS.Signals) => {
      child.kill(signal);
      child.once('close', () => process.exit(130));
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, onSignal);
    child.on('error', reject);
    child.on('close', (code) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, onSignal);
      resolve(code ?? 1);
    });
  });
}

async function runVitest(files: string[], reportFile: string): Promise<FileResult[] | null> {
  await run('vitest', ['run', ...files, '--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`]);
  let text: string;
  try {
    text = await readFile(reportFile, 'utf8');
  } catch {
    return null; // vitest ended before it ran anything and has said why
  }
  return reportSchema.parse(JSON.parse(text)).testResults.map(({ name, status, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed').map((test) => test.fullName);
    const passed = assertionResults.filter((test) => test.status === 'passed').length;
    // a file that could not be loaded, or whose hook failed, has no failed test of its own
    if (status === 'failed' && failed.length === 0) failed.push(`${relative('.', name)} (the file itself)`);
    return { file: relative('.', name), passed, failed };
  });
}

function needsServers({ file }: FileResult): boolean {
  return /^test\/(attacks|integration|e2e)\//.test(file);
}

async function main(): Promise<void> {
  const checks: [string, string[]][] = [
    ['oxfmt', ['--check']],
    ['oxlint', ['--deny-warnings']],
    ['tsc', ['--noEmit']],
  ];
  let passed = 0;
  const failures: string[] = [];
  for (const [command, args] of checks) {
    if ((await run(command, args)) === 0) passed += 1;
    else failures.push(command);
  }

  const folder = await mkdtemp(join(tmpdir(), 'docket-tests-'));
  try {
    let results = await runVitest([], join(folder, 'first.json'));
    if (results === null) {
      failures.push('vitest did not run');
      results = [];
    }
    const again = results.filter((result) => result.failed.length > 0 && needsServers(result));
    if (again.length > 0 && again.length <= 4) {
      const files = again.map((result) => result.file);
      console.log(`\nOnce more, by themselves: ${files.join(', ')}`);
      const second = (await runVitest(files, join(folder, 'second.json'))) ?? [];
      for (const result of second.filter(({ failed }) => failed.length === 0)) {
        const first = again.find(({ file }) => file === result.file);
        for (const name of first?.failed ?? []) console.log(`passed only at the second attempt: ${name}`);
        results = results.map((earlier) => (earlier.file === result.file ? result : earlier));
      }
    }
    passed += results.reduce((sum, result) => sum + result.passed, 0);
    failures.push(...results.flatMap((result) => result.failed));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }

  for (const failure of failures) console.log(`failed: ${failure}`);
  console.log(`\n${passed} passed, ${failures.length} failed`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}

await main();
