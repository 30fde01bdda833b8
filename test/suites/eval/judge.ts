import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandError } from '../../../cli/command-error.ts';
import { openSandboxHost } from '../../../activities/sandbox/sandbox-host.ts';
import { compileGlob } from '../../../lib/inputs/glob.ts';
import type { PreparedTask } from './repositories.ts';
import type { Check, Task } from './tasks.ts';

/** `failure` is null when the task is resolved; `reason` explains it. */
export interface Verdict {
  failure: 'no_change' | 'other_paths' | 'too_many_lines' | 'not_exact' | 'check_failed' | 'check_timeout' | null;
  reason: string;
}

export interface Judge extends AsyncDisposable {
  /** Judges a tree by the task's check. */
  judge(task: Task, prepared: PreparedTask, tree: string): Promise<Verdict>;
  /** Judges a tree by the command of the check only. */
  runCheck(check: Check, prepared: PreparedTask, tree: string): Promise<Verdict>;
  /** Returns the program that a task needs and this machine does not have, or null. */
  missing(task: Task): Promise<string | null>;
}

/** Limits of a check: it compiles and runs the tests of a repository. */
const limits = { memoryBytes: 3 * 2 ** 30, processes: 1_024, diskBytes: 2 ** 30 };
const maxOutputLength = 2_000;
const passed: Verdict = { failure: null, reason: '' };
// where the official packages of Go install it
const path = 'export PATH="$PATH:/usr/local/go/bin" GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local\n';

/** Returns the tree of a task's reference solution. */
export function referenceOf({ solution }: Task, { trees, base, pinned }: PreparedTask): Promise<string> {
  return solution === undefined ? Promise.resolve(pinned) : trees.withEdits(base, solution);
}

/** Opens a judge, which runs commands in the sandbox of this machine only. Throws CommandError when there is none. */
export async function openJudge(): Promise<Judge> {
  const folder = await mkdtemp(join(tmpdir(), 'docket-eval-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const host = await openSandboxHost({ directory: join(folder, 'sandbox'), limits, network: null, authorities: null });
  const { sandbox } = host;
  if (sandbox === null) {
    await remove();
    throw new CommandError(`The results cannot be checked: a model wrote them. ${host.problem}`);
  }
  const programs = new Map<string, Promise<boolean>>();
  let count = 0;

  async function run(command: string, seconds: number, fill: (tree: string) => Promise<void>) {
    const jobId = `eval-${(count += 1)}`;
    const tree = join(folder, jobId);
    try {
      await fill(tree);
      const { signal } = new AbortController();
      return await sandbox!.run({ jobId, tree, command: path + command, timeoutMs: seconds * 1_000, signal });
    } finally {
      await rm(tree, { recursive: true, force: true });
    }
  }

  const runCheck: Judge['runCheck'] = async (check, { trees, base }, tree) => {
    const { restore, files, run: command, seconds } = check;
    if (command === undefined) return passed;
    const globs = restore.map(compileGlob);
    const among = async (of: string) => (await trees.list(of)).filter(({ path }) => globs.some((glob) => glob(path)));
    const removed = (await among(tree)).map((entry) => ({ ...entry, object: '' }));
    const restored = await trees.withEntries(tree, [...removed, ...(await among(base))]);
    const judged = await trees.withFiles(restored, files);
    const { exitCode, stopped, output } = await run(command, seconds, (to) => trees.checkOut(judged, to));
    if (exitCode === 0) return passed;
    const text = Buffer.concat([output.head, output.tail]).toString('utf8').slice(-maxOutputLength);
    return {
      failure: stopped === 'timeout' ? 'check_timeout' : 'check_failed',
      reason: text || `exit code ${exitCode}`,
    };
  };

  return {
    async judge(task, prepared, tree) {
      const { trees, base } = prepared;
      if (tree === base) return { failure: 'no_change', reason: 'No file was changed.' };
      if (task.check === null) throw new Error(`${task.id} has no check.`);
      const { only, lines, exact } = task.check;
      const changes = (await trees.git('diff-tree', '-r', '--no-renames', '--numstat', '-z', base, tree))
        .split('\0')
        .filter(Boolean)
        .map((line) => line.split('\t'));
      const globs = only.map(compileGlob);
      const other = changes.find(([, , path = '']) => globs.length > 0 && !globs.some((isAllowed) => isAllowed(path)));
      if (other !== undefined) return { failure: 'other_paths', reason: `${other[2]} was changed.` };
      const changed = changes.reduce((sum, [added, deleted]) => sum + (Number(added) || 0) + (Number(deleted) || 0), 0);
      if (changed > (lines ?? Infinity)) return { failure: 'too_many_lines', reason: `${changed} lines were changed.` };
      if (exact && tree !== (await referenceOf(task, prepared)))
        return { failure: 'not_exact', reason: 'The files differ from the reference solution.' };
      return runCheck(task.check, prepared, tree);
    },
    runCheck,
    async missing({ needs }) {
      for (const program of needs) {
        const isThere =
          programs.get(program) ??
          run(`command -v ${program}`, 20, (tree) => mkdir(tree)).then(({ exitCode }) => exitCode === 0);
        programs.set(program, isThere);
        if (!(await isThere)) return program;
      }
      return null;
    },
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await remove();
    },
  };
}
