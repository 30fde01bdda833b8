import { ZodError } from 'zod';
import { readBundle } from '../../db/jobs/bundle-file.ts';
import { makePrivateFolder, temporaryFolderOf } from '../../lib/private-folder.ts';
import { collectJob, type CollectedJob } from '../../worker/replay/collect-job.ts';
import { reportJob } from '../../worker/replay/job-report.ts';
import { prepareWorkflowBundle } from '../../worker/workflow-bundle.ts';
import { CommandError } from '../command-error.ts';
import type { ReplayBundle } from '../commands/context.ts';
import { print } from '../commands/output.ts';
import { printStep } from './print-step.ts';
import { printJobReport } from './print-job.ts';

/** Prints the report of `docket job replay` for a job or one of its steps. */
export const replayBundle: ReplayBundle = async (bundle, options) => {
  try {
    await replay(bundle, options);
  } catch (cause) {
    if (!(cause instanceof ZodError)) throw cause;
    throw new CommandError('The bundle is damaged. Download it again with "docket job bundle".', {
      cause,
    });
  }
};

const replay: ReplayBundle = async ({ file, name }, { json, step, turn }) => {
  const isJson = json === true;
  const collected = await collectJob(readBundle(file));
  if (collected === null) throw new CommandError('The bundle contains no job.');
  if (turn !== undefined && !collected.turns.some((one) => one.turn === turn)) {
    throw new CommandError(`The job has no turn ${turn}; it has turns 1 to ${collected.job.turn}.`);
  }
  if (step !== undefined) return showStep(collected, { turn: turn ?? collected.job.turn, step }, isJson);

  const selected =
    turn === undefined ? collected : { ...collected, turns: collected.turns.filter((one) => one.turn === turn) };
  const hasHistory = selected.turns.some((one) => collected.histories.some((kept) => kept.turn === one.turn));
  const report = await reportJob(selected, hasHistory ? prepareReplay : null);
  if (isJson) print(JSON.stringify(report, null, 2));
  else printJobReport(report, name);
};

async function showStep(collected: CollectedJob, at: { turn: number; step: number }, isJson: boolean): Promise<void> {
  const { steps } = (await reportJob(collected, null)).turns.find(({ turn }) => turn === at.turn) ?? { steps: [] };
  const report = steps.find(({ step }) => step === at.step);
  if (report === undefined) {
    const there = steps.length === 0 ? 'it has none' : `it has steps 1 to ${steps.at(-1)?.step ?? 0}`;
    throw new CommandError(`Turn ${at.turn} has no step ${at.step}; ${there}.`);
  }
  // loaded here because the table does not need the code that rebuilds prompts
  const { exactQuestionOf } = await import('../../worker/replay/exact-question.ts');
  const question = exactQuestionOf(collected, at);
  const patch = collected.steps.find(({ turn, step }) => turn === at.turn && step === at.step)?.patch ?? null;
  const diff = patch === null ? null : { files: report.files, patch };
  if (isJson) print(JSON.stringify({ step: report, question, diff }, null, 2));
  else printStep({ jobId: collected.job.id, report, question, diff });
}

/** Silences the SDK's log: only the verdict of a replay matters. */
async function prepareReplay(): Promise<string> {
  const { DefaultLogger, Runtime } = await import('@temporalio/worker');
  Runtime.install({
    logger: new DefaultLogger('ERROR', () => undefined),
    shutdownSignals: [],
    telemetryOptions: { logging: { forward: {}, filter: 'OFF' } },
  });
  const directory = makePrivateFolder(temporaryFolderOf('docket-bundles'));
  return prepareWorkflowBundle({ directory });
}
