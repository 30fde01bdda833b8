import { CommandError } from '../../../cli/command-error.ts';
import { referenceOf, type Judge } from './judge.ts';
import type { Repositories } from './repositories.ts';
import type { Task } from './tasks.ts';

/**
 * Proves for each task that the untouched repository fails its check and the reference solution passes it. Prints a line
 * per task and returns the number of tasks for which that does not hold.
 */
export async function verifyTasks(
  { judge, repositories, concurrency }: { judge: Judge; repositories: Repositories; concurrency: number },
  tasks: Task[],
): Promise<number> {
  const pending = [...tasks];
  const counts = { holds: 0, 'not run': 0, wrong: 0 };
  const lane = async () => {
    for (let task = pending.shift(); task !== undefined; task = pending.shift()) {
      const [word, reason] = await verify(judge, repositories, task).catch(wrongTask);
      counts[word] += 1;
      console.log(`${word.padEnd(8)} ${task.id}${reason === '' ? '' : `: ${reason}`}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  const places = new Set(tasks.map(({ repository }) => repository)).size;
  console.log(
    `${tasks.length} tasks in ${places} repositories: ${counts.holds} hold, ${counts.wrong} are wrong, ${counts['not run']} were not run`,
  );
  return counts.wrong;
}

type Verified = ['holds' | 'not run' | 'wrong', reason: string];

/** A task whose edits do not apply is wrong; anything else ends the command. */
function wrongTask(error: unknown): Verified {
  if (error instanceof CommandError) return ['wrong', error.message];
  throw error;
}

async function verify(judge: Judge, repositories: Repositories, task: Task): Promise<Verified> {
  const missing = await judge.missing(task);
  if (missing !== null) return ['not run', `This machine has no ${missing}.`];
  const prepared = await repositories.prepare(task);
  const reference = await referenceOf(task, prepared);
  const solved = await judge.judge(task, prepared, reference);
  if (solved.failure !== null) return ['wrong', `the reference solution fails: ${solved.failure}: ${solved.reason}`];
  if (task.check?.run === undefined) return ['holds', ''];
  const untouched = await judge.runCheck(task.check, prepared, prepared.base);
  return untouched.failure === null ? ['wrong', 'the untouched repository passes'] : ['holds', ''];
}
