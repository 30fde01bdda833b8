import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { availableParallelism, getPriority, setPriority } from 'node:os';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { sendSignal } from '../../local/processes/process-identity.ts';
import { readTool } from '../../lib/inputs/tool-arguments.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/**
 * `npm run check`, `npm test` and `npm run test:all`: formatter, linter and type checker, then the tests of that set; the
 * last one checks the regular expressions, too. The closing line is `N passed, N failed`. A test that takes over five seconds must
 * carry the tag `slow`, or the run fails.
 */

const quick = ['--tags-filter=!slow && !control'];
const sets: Record<string, string[]> = {
  // they compute more than they wait, so one additional worker keeps the processors busy
  check: ['--project=unit*', `--maxWorkers=${availableParallelism() + 1}`, ...quick],
  test: [...['unit*', 'replay', 'integration*', 'attacks', 'smoke'].map((name) => `--project=${name}`), ...quick],
  all: [],
};
const secondGroups = '/sys/fs/cgroup/unified';
/** In percent. */
const propertyRuns: Record<string, string> = { check: '5', test: '10', all: '100' };
const limitMs = 5_000;
/** The commands that run in parallel use the compile cache; tests set it up themselves. */
const compiled = { ...process.env, NODE_COMPILE_CACHE: 'node_modules/.cache/docket/checks' };
/** Priority of the commands that run in parallel to the tests. */
const niceness = 10;

const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string().transform((name) => relative('.', name)),
      status: z.string(),
      assertionResults: z.array(
        z.object({
          fullName: z.string(),
          status: z.string(),
          duration: z.number().default(0),
          tags: z.array(z.string()),
        }),
      ),
    }),
  ),
});

interface TestResult {
  file: string;
  name: string;
  status: string;
  durationMs: number;
  /** A test that exceeds the limit without the tag `slow`. */
  isOver: boolean;
}

const running = new Set<ChildProcess>();
let isInterrupted = false;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    isInterrupted = true;
    for (const { pid } of running) if (pid !== undefined) sendSignal(-pid, signal);
    endInterrupted();
  });
}

/** Forwards the signal to the commands and their children, and ends the run when they have ended. */
function endInterrupted(): void {
  if (isInterrupted && running.size === 0) process.exit(130);
}

interface RunOptions {
  env?: NodeJS.ProcessEnv;
  /** Lowers the priority, so that the tests get the processors first. */
  isLowPriority?: boolean;
}

function run(command: string, args: string[], { env, isLowPriority = false }: RunOptions = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', detached: true, env });
    running.add(child);
    if (isLowPriority && child.pid !== undefined) setPriority(child.pid, Math.max(getPriority(), niceness));
    child.on('error', reject);
    child.on('close', (code) => {
      running.delete(child);
      endInterrupted();
      resolve(code ?? 1);
    });
  });
}

/** Words before a command that starts containers: crun refuses a second version of control groups in use. */
const withoutSecondGroups =
  process.getuid?.() === 0 && existsSync(secondGroups)
    ? ['unshare', '--mount', 'sh', '-c', `umount ${secondGroups}; exec "$@"`, 'sh']
    : [];

/** Runs vitest. Null when it ended before any test and has reported why. */
async function runVitest(args: string[], env: NodeJS.ProcessEnv): Promise<TestResult[] | null> {
  const folder = temporaryDirectory();
  const reportFile = join(folder, 'report.json');
  try {
    const words = ['vitest', 'run', ...args, '--reporter=default', '--reporter=json'];
    const [command = '', ...rest] = [...withoutSecondGroups, ...words, `--outputFile.json=${reportFile}`];
    await run(command, rest, { env });
    const text = await readFile(reportFile, 'utf8').catch(() => null);
    return text === null ? null : resultsOf(reportSchema.parse(JSON.parse(text)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function resultsOf({ testResults }: z.infer<typeof reportSchema>): TestResult[] {
  return testResults.flatMap(({ name: file, status, assertionResults }) => {
    const hasLimit = !file.startsWith('test/e2e/');
    const tests = assertionResults.map(({ fullName, status: ended, duration, tags }) => ({
      file,
      name: fullName,
      status: ended,
      durationMs: duration,
      isOver: hasLimit && ended === 'passed' && duration > limitMs && !tags.includes('slow'),
    }));
    // a file that could not be loaded, or whose hook failed, has no failed test of its own
    const isBroken = status === 'failed' && !tests.some((test) => test.status === 'failed');
    return isBroken
      ? [...tests, { file, name: '(the file itself)', status: 'failed', durationMs: 0, isOver: false }]
      : tests;
  });
}

/** Returns the factor by which the machine's load slows down a computation. */
function contention(): number {
  const startedAt = process.hrtime.bigint();
  const before = process.cpuUsage();
  let usedMicros = 0;
  while (usedMicros < 200_000) {
    const { user, system } = process.cpuUsage(before);
    usedMicros = user + system;
  }
  return Math.max(1, Number(process.hrtime.bigint() - startedAt) / 1_000 / usedMicros);
}

/**
 * Times tests again, alone, and allows for the load of the machine. Returns those that still exceed the limit, and those
 * that were not run again.
 */
async function measureAgain(tests: TestResult[], env: NodeJS.ProcessEnv): Promise<TestResult[]> {
  console.log(`\nTook over ${limitMs / 1_000} s beside others; timed once more, alone:`);
  // the report and the filter join the names of groups and tests differently
  const names = tests.map(({ name }) => name.replaceAll(/\W+/g, '.+'));
  const files = new Set(tests.map(({ file }) => file));
  const before = contention();
  const results = await runVitest([...files, '--no-file-parallelism', ...quick, `-t=^(${names.join('|')})$`], env);
  // processors differ: a CI machine may need 50% more
  const allowedMs = limitMs * 1.5 * Math.max(before, contention());
  return tests.flatMap((test) => {
    const again = results?.find(
      ({ file, name, status }) => file === test.file && name === test.name && status !== 'skipped',
    );
    if (again === undefined) return [test];
    return again.status === 'failed' || again.durationMs > allowedMs ? [again] : [];
  });
}

async function main(set: string, filters: string[]): Promise<void> {
  const selection = sets[set];
  if (selection === undefined) throw new Error(`Run one of: ${Object.keys(sets).join(', ')}.`);
  const env = { ...process.env, PROPERTY_RUNS: process.env['PROPERTY_RUNS'] ?? propertyRuns[set] };
  let passed = 0;
  const failures: string[] = [];
  const check = async (command: string, ...args: string[]) => {
    // unit tests seldom wait, so a process with a low priority would run after them, alone
    if ((await run(command, args, { env: compiled, isLowPriority: set !== 'check' })) === 0) passed += 1;
    else failures.push([command, ...args].join(' '));
  };
  const checks = Promise.all([
    check('oxfmt', '--check'),
    check('oxlint', '--deny-warnings'),
    // one thread leaves more of the processors to the tests, and does not take longer than they do
    check('npm', 'run', '--silent', 'typecheck', '--', '--singleThreaded'),
    ...(set === 'all' ? [check('npm', 'run', '--silent', 'patterns')] : []),
  ]);
  const results = await runVitest([...selection, ...filters], env);
  await checks;
  if (results === null) failures.push('vitest did not run');
  for (const { status, file, name } of results ?? []) {
    if (status === 'passed') passed += 1;
    if (status === 'failed') failures.push(`${file} ${name}`);
  }
  const over = set === 'all' ? [] : (results ?? []).filter(({ isOver }) => isOver);
  for (const { file, name, status, durationMs } of over.length > 0 ? await measureAgain(over, env) : []) {
    passed -= 1;
    const why =
      status === 'failed' ? 'failed alone' : `takes ${(durationMs / 1_000).toFixed(1)} s; shorten it, or tag it slow`;
    failures.push(`${file} ${name} (${why})`);
  }

  for (const failure of failures) console.log(`failed: ${failure}`);
  console.log(`\n${passed} passed, ${failures.length} failed`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}

const [set = 'test', ...filters] = process.argv.slice(2);
if (filters.some((filter) => /^(?:-h|--help)$/.test(filter))) {
  readTool(
    {
      command: set === 'test' ? 'npm test --' : `npm run ${set === 'all' ? 'test:all' : set} --`,
      about: 'Runs the formatter, the linter, the type checker and tests. Options and names of files go to vitest.',
      words: { name: 'FILE' },
    },
    ['--help'],
  );
}
await main(set, filters);
