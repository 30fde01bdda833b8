import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { simpleGit } from 'simple-git';
import { z } from 'zod';
import { readTool, wholeNumber } from '../../../lib/inputs/tool-arguments.ts';
import { mutations, type Mutation } from './list.ts';

/**
 * `npm run mutations [-- --only TEXT] [--lanes N]`: takes one check at a time out of a clone of the committed code and runs the
 * tests that hold it. First all these tests run once with the checks in place. Ends with 1 when a mutation is not caught.
 */

const checkout = resolve(import.meta.dirname, '../../..');
const maxRunMs = 10 * 60_000;
const reportSchema = z.object({
  testResults: z.array(z.object({ name: z.string(), assertionResults: z.array(z.object({ status: z.string() })) })),
});

interface FileOutcome {
  file: string;
  passed: number;
  failed: number;
}

/** A clone of the committed code. */
async function createLane(home: string, name: string): Promise<string> {
  const lane = join(home, name);
  await simpleGit().clone(checkout, lane, ['--quiet', '--shared']);
  symlinkSync(join(checkout, 'node_modules'), join(lane, 'node_modules'));
  return lane;
}

/** Folders of projects with another name. */
const folders: Record<string, string> = { attacks: 'suites/attacks', podman: 'integration' };

/** The tests of a project in a lane; a file that does not load has no test at all. */
async function runTests(lane: string, { project, tests }: Pick<Mutation, 'project' | 'tests'>, more: string[] = []) {
  const report = join(lane, '.mutation.json');
  const args = ['run', '--project', `${project}*`, ...tests, '--reporter=json', `--outputFile=${report}`, ...more];
  // lanes share node_modules, where runs beside each other would replace each other's caches
  args.push('--cache=false', `--fsModuleCachePath=${join(lane, '.vitest-cache')}`);
  await new Promise((done, fail) => {
    const child = spawn(join(lane, 'node_modules/.bin/vitest'), args, {
      cwd: lane,
      stdio: 'ignore',
      timeout: maxRunMs,
    });
    child.on('error', fail).on('close', done);
  });
  const text = readFileSync(report, 'utf8');
  rmSync(report);
  return reportSchema.parse(JSON.parse(text)).testResults.map(({ name, assertionResults }): FileOutcome => {
    const count = (wanted: string) => assertionResults.filter(({ status }) => status === wanted).length;
    return { file: relative(lane, name), passed: count('passed'), failed: count('failed') };
  });
}

/** The file with the check taken out. Throws when the list is not of today's code. */
function mutated(text: string, { name, file, find, replace }: Mutation): string {
  if (text.split(find).length !== 2)
    throw new Error(`${name}: ${file} has to hold ${JSON.stringify(find)} exactly once.`);
  return text.replace(find, () => replace);
}

/** Each test file once, with all checks in place. */
async function runControl(home: string, chosen: Mutation[]): Promise<FileOutcome[]> {
  const byProject = Map.groupBy(chosen, ({ project }) => project);
  const runs = [...byProject].map(async ([project, list]) =>
    runTests(await createLane(home, project), { project, tests: [...new Set(list.flatMap(({ tests }) => tests))] }),
  );
  return (await Promise.all(runs)).flat();
}

/** Null when the tests pass with the check and fail without it; else what is wrong. */
async function problemOf(lane: string, mutation: Mutation, control: FileOutcome[]): Promise<string | null> {
  const { project, tests, file } = mutation;
  const held = control.filter((outcome) => outcome.file.startsWith(`test/${folders[project] ?? project}/`));
  for (const test of tests) {
    const own = held.filter((outcome) => outcome.file.includes(test));
    if (own.length === 0 || own.some(({ passed, failed }) => passed === 0 || failed > 0))
      return 'its tests do not pass with the check';
  }
  const path = join(lane, file);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, mutated(text, mutation));
  try {
    const outcomes = await runTests(lane, mutation, ['--bail=1']);
    return outcomes.some(({ failed }) => failed > 0) ? null : 'its tests pass without the check, or do not run';
  } catch (error) {
    return `no verdict: ${String(error)}`;
  } finally {
    writeFileSync(path, text);
  }
}

async function main(): Promise<void> {
  const { options: values } = readTool({
    command: 'npm run mutations --',
    about: 'Takes one check at a time out of a clone of the committed code and expects its tests to fail.',
    options: {
      only: z.string().default('').describe('takes the checks whose name or file contains this'),
      lanes: wholeNumber().default(availableParallelism()).describe('checks at once'),
    },
  });
  const chosen = mutations.filter(({ name, file }) => `${name} ${file}`.includes(values.only));
  for (const mutation of chosen) mutated(readFileSync(join(checkout, mutation.file), 'utf8'), mutation);
  const home = mkdtempSync(join(tmpdir(), 'docket-mutations-'));
  // the sandbox is also tested as an ordinary user, who must be able to read the clone
  chmodSync(home, 0o711);
  const seconds = (since: number) => `${Math.round((performance.now() - since) / 1_000)} s`;
  let failed = 0;
  try {
    const control = await runControl(home, chosen);
    console.log(`${control.length} test files run with all checks in place, ${seconds(0)}`);
    const waiting = chosen.values();
    const work = async (lane: string) => {
      for (const mutation of waiting) {
        const begun = performance.now();
        const problem = await problemOf(lane, mutation, control);
        if (problem !== null) failed += 1;
        const held = `${mutation.project} ${mutation.tests.join(' ')}`;
        console.log(`${problem === null ? 'caught' : 'MISSED'}  ${mutation.name}  (${held}, ${seconds(begun)})`);
        if (problem !== null) console.log(`        ${problem}`);
      }
    };
    await Promise.all(
      Array.from({ length: values.lanes }, (_, number) => createLane(home, `lane-${number}`).then(work)),
    );
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  console.log(`\n${chosen.length - failed} passed, ${failed} failed, ${seconds(0)}`);
  process.exitCode = failed === 0 && chosen.length > 0 ? 0 : 1;
}

await main();
