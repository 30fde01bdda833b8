import type { JobContextStore } from '../../db/for-worker/job-context.ts';
import type { EffectStore } from '../../db/for-worker/effects.ts';
import type { JobCheck } from '../../db/jobs/agent-job.ts';
import type { TurnRef } from '../../workflows/contract/job.ts';
import { readCheck } from './check-command.ts';
import { checkedText } from '../publish/pull-request-text.ts';

export interface CheckReport {
  /** Text for the pull request, in Markdown; null if there is nothing to report. */
  text: string | null;
  /** Null when the project has no check command. Unless the check passed, the pull request is a draft. */
  check: JobCheck | null;
}

export interface CheckReportDeps {
  effects: Pick<EffectStore, 'result'>;
  context: Pick<JobContextStore, 'notes'>;
}

/** Returns the result of the check of a published tree, if known. */
export async function checkOf(
  { effects, context }: CheckReportDeps,
  { ref, tree, command }: { ref: TurnRef; tree: string; command: string | null },
): Promise<CheckReport> {
  const notes = await context.notes(ref.jobId, ref.turn);
  const isUnable = notes.some(({ turn, kind }) => turn === ref.turn && kind === 'no-commands');
  const reason = isUnable ? 'The worker cannot run commands.' : null;
  if (command === null) return { text: reason === null ? null : `${reason} No tests were run.`, check: null };
  const result = await readCheck(effects, ref, { tree, command });
  const end = result === null ? 'not-run' : result.passed ? 'passed' : 'failed';
  return { text: checkedText(command, result, reason), check: { command, result: end } };
}
