import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { mutations, type Mutation } from './list.ts';

/**
 * `npm run mutations [-- --only TEXT]`: takes one check at a time out of a clone of the committed code and runs the tests that
 * hold it. Ends with 1 when one of them still passes, or does not pass with the check.
 */

const checkout = resolve(import.meta.dirname, '../..');
const reportSchema = z.object({ numFailedTests: z.number(), numPassedTests: z.number() });

interface Outcome {
  failed: number;
  passed: number;
}

/** The tests of a mutation in a clone; a file that does not load counts as no test at all. */
async function runTests(clone: string, { project, tests }: Mutation): Promise<Outcome> {
  const report = join(clone, '.mutation.json');
  const args = ['run', '--project', project, ...tests, '--reporter=json', `--outputFile=${report}`, '--bail=1'];
  await new Promise((done, fail) => {
    const child = spawn(join(clone, 'node_modules/.bin/vitest'), args, { cwd: clone, stdio: 'ignore' });
    child.on('error', fail).on('close', done);
  });
  try {
    const { numFailedTests: failed, numPassedTests: passed } = reportSchema.parse(
      JSON.parse(readFileSync(report, 'utf8')),
    );
    return { failed, passed };
  } finally {
    rmSync(report, { force: true });
  }
}

/** The file with the check taken out. Throws when the list is not of today's code. */
function mutated(text: string, { name, file, find, replace }: Mutation): string {
  if (text.split(find).length !== 2)
    throw new Error(`${name}: ${file} has to hold ${JSON.stringify(find)} exactly once.`);
  return text.replace(find, () => replace);
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
  const chosen = mutations.filter(({ name, file }) => `${name} ${file}`.includes(values.only));
  const clone = mkdtempSync(join(tmpdir(), 'docket-mutations-'));
  let failed = 0;
  try {
    execFileSync('git', ['clone', '--quiet', '--shared', checkout, clone]);
    symlinkSync(join(checkout, 'node_modules'), join(clone, 'node_modules'));
    const checked = new Map<string, Outcome>();
    for (const mutation of chosen) {
      const { name, project, tests } = mutation;
      const path = join(clone, mutation.file);
      const text = readFileSync(path, 'utf8');
      const without = mutated(text, mutation);
      const set = [project, ...tests].join(' ');
      const control = checked.get(set) ?? (await runTests(clone, mutation));
      checked.set(set, control);
      writeFileSync(path, without);
      const outcome = await runTests(clone, mutation);
      writeFileSync(path, text);
      const isCaught = control.failed === 0 && control.passed > 0 && outcome.failed > 0;
      if (!isCaught) failed += 1;
      const reason = control.failed > 0 || control.passed === 0 ? 'the tests fail without it, too' : 'not caught';
      console.log(`${isCaught ? 'caught' : reason.padEnd(6)}  ${name}  (${set})`);
    }
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
  console.log(`\n${chosen.length - failed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && chosen.length > 0 ? 0 : 1;
}

await main();
