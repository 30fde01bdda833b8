import type { JobContextStore, JobNote } from '../../db/for-worker/job-context.ts';
import type { EffectStore } from '../../db/for-worker/effects.ts';
import type { StepStore } from '../../db/for-worker/steps.ts';
import { isPlanning } from '../../db/jobs/jobs.ts';
import type { ProjectRow } from '../../db/organizations/projects.ts';
import type { StepRef } from '../../workflows/contract/job.ts';
import { maxChecks, readCheck } from './check-command.ts';
import type { Commands } from './commands.ts';
import type { JobAccess } from '../job/job-access.ts';

/** Returns the note about commands for the agent: that none can be run, or which command checks its work. */
export function commandNoteOf(
  commands: Commands,
  { mayRun, checkCommand }: Pick<ProjectRow, 'mayRun' | 'checkCommand'>,
): (Pick<JobNote, 'kind' | 'text'> & { notice?: string }) | null {
  if (commands === null) return null;
  if (commands.problem !== null) {
    if (!mayRun && checkCommand === null) return null;
    const text = 'Commands are not available in this job, so nothing can be tested. Say in finish what is unchecked.';
    return { kind: 'no-commands', text, notice: commands.problem };
  }
  if (checkCommand === null) return null;
  const text =
    'When you call finish, this command runs on your work, and the work is done when it succeeds. ' +
    `Make sure first that it will.\n$ ${checkCommand}`;
  return { kind: 'check', text };
}

export interface FinishReminderDeps {
  steps: Pick<StepStore, 'latestTree'>;
  effects: Pick<EffectStore, 'result'>;
  context: Pick<JobContextStore, 'notes' | 'addNote'>;
  access: Pick<JobAccess, 'activeJob'>;
  commands: Commands;
}

/**
 * Creates the function that reminds an agent that ended with text alone to call `finish`, so that its work is checked.
 * It returns whether the agent continues, and decides the same for a step every time.
 */
export function createFinishReminder({ steps, effects, context, access, commands }: FinishReminderDeps) {
  return async function remindOfFinish(ref: StepRef): Promise<boolean> {
    if (commands === null || commands.sandbox === null) return false;
    const job = await access.activeJob(ref);
    const { checkCommand } = job.project;
    if (checkCommand === null || isPlanning(job)) return false;
    const tree = await steps.latestTree(job.id);
    if (tree === null || tree === job.headTree) return false;
    if ((await readCheck(effects, ref, { tree, command: checkCommand })) !== null) return false;
    const noted = (await context.notes(job.id, ref.turn)).filter(
      ({ kind, turn, step }) => kind === 'call-finish' && turn === ref.turn && step <= ref.step,
    );
    if (noted.length >= maxChecks) return false;
    const text = 'Your work is not checked yet. Call finish when it is done; the check command runs then.';
    await context.addNote({ jobId: job.id, turn: ref.turn, step: ref.step + 1, kind: 'call-finish', text });
    return true;
  };
}
