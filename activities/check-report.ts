import type { JobContextStore } from '../db/worker/job-context.ts';
import type { EffectStore } from '../db/worker/effects.ts';
import type { TurnRef } from '../workflows/contract/job.ts';
import { readCheck } from './check-command.ts';
import { checkedText } from './pull-request-text.ts';

export interface CheckReport {
  /** For the pull request, in Markdown; null: there is nothing to say. */
  text: string | null;
  /** Whether nothing is left to check: without it, the pull request is a draft. */
  isPassed: boolean;
}

export interface CheckReportDeps {
  effects: Pick<EffectStore, 'claim'>;
  context: Pick<JobContextStore, 'notes'>;
}

/** What is known of the check of a tree that is published. */
export async function checkOf(
  { effects, context }: CheckReportDeps,
  { ref, tree, command }: { ref: TurnRef; tree: string; command: string | null },
): Promise<CheckReport> {
  const notes = await context.notes(ref.jobId, ref.turn);
  const isUnable = notes.some(({ turn, kind }) => turn === ref.turn && kind === 'no-commands');
  const reason = isUnable ? 'No command can be run on the worker.' : null;
  if (command === null) return { text: reason === null ? null : `${reason} Nothing was tested.`, isPassed: true };
  const result = await readCheck(effects, ref, { tree, command });
  return { text: checkedText(command, result, reason), isPassed: result?.passed === true };
}
