import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { writeBundle } from '../../../../db/jobs/bundle-file.ts';
import type { BundleRecord } from '../../../../db/jobs/bundle-schema.ts';
import { recordedTurn, type RecordedRuns } from './record-runs.ts';

/** Writes the bundle of a job with this many steps; each reads one file and every third changes one. */
export async function writeJobBundle(
  path: string,
  { steps, runs }: { steps: number; runs: RecordedRuns },
): Promise<void> {
  const lines = Readable.from(chunksOf(steps, runs)).map((record) => JSON.stringify(record));
  await writeBundle(lines, createWriteStream(path));
}

const filesOfJob = 20;
const text = 'A sentence such as a source file, or an answer about one, is made of. '.repeat(30);
const baseCommit = '0'.repeat(40);
const treeOf = (step: number) => (step < 3 ? null : String(step - (step % 3)).padStart(40, '0'));
const timeOf = (step: number) => new Date(1_767_225_600_000 + step * 1_000).toISOString();

async function* chunksOf(steps: number, runs: RecordedRuns): AsyncGenerator<BundleRecord> {
  const [createdAt, endedAt] = [timeOf(0), timeOf(steps + 1)];
  const { jobId, turn } = recordedTurn;
  yield {
    piece: 'job',
    id: jobId,
    projectId: 'prj_bench',
    status: 'completed',
    turn,
    repository: '/bench.git',
    requestedRef: null,
    baseBranch: 'main',
    baseCommit,
    model: 'offline/editor',
    draft: false,
    title: null,
    message: null,
    branch: null,
    headCommit: null,
    prLink: null,
    failureCategory: null,
    forkedFrom: null,
    recordsRemovedAt: null,
    createdAt,
    endedAt,
    archivedAt: null,
  };
  const prompt = 'Read all files, and change some.';
  const tree = treeOf(steps);
  yield {
    piece: 'turn',
    turn,
    prompt,
    status: 'completed',
    baseCommit,
    tree,
    treeStep: steps,
    firstTree: null,
    createdAt,
    endedAt,
  };
  yield { piece: 'export', turn, state: 'exported', isWhole: true };
  for (const [index, run] of runs.entries()) {
    const { runId, eventCount, buildIds, history } = run;
    yield { piece: 'history', turn, run: index + 1, runId, eventCount, buildIds, history: history.toString('base64') };
  }
  for (let step = 1; step <= steps; step += 1) {
    yield stepOf(step);
    for (const type of ['step-start', 'tool-call', 'tool-result', 'usage'])
      yield { piece: 'event', seq: step * 10, turn, step, type, data: { step, text: 'ok' }, createdAt: timeOf(step) };
    if (step % 3 === 0) yield* snapshotOf(step);
  }
}

function stepOf(step: number): BundleRecord {
  const call = { toolCallId: `call_${step}`, toolName: 'read', input: { path: `src/file-${step}.ts` } };
  return {
    piece: 'step',
    turn: recordedTurn.turn,
    step,
    fence: 1,
    model: 'offline/editor',
    requestHash: 'f'.repeat(64),
    toolsHash: null,
    response: {
      content: [
        { type: 'text', text },
        { type: 'tool-call', ...call },
      ],
      text,
      toolCalls: [call],
    },
    finishReason: 'tool-calls',
    inputTokens: 10_000,
    outputTokens: 300,
    cachedTokens: 9_000,
    cacheWriteTokens: 1_000,
    costMicros: 100,
    toolResults: [{ toolCallId: call.toolCallId, toolName: 'read', output: text, isError: false }],
    tree: treeOf(step),
    patch: null,
    modelFailures: 0,
    startedAt: timeOf(step),
    answeredAt: timeOf(step),
    endedAt: timeOf(step),
  };
}

function* snapshotOf(step: number): Generator<BundleRecord> {
  const tree = String(step).padStart(40, '0');
  const changedFiles = Math.min(step / 3, filesOfJob);
  const patch = Array.from({ length: changedFiles }, (_, file) => patchOf(file, lastChange(file, step))).join('');
  yield { piece: 'snapshot', tree, commit: tree, baseCommit, patch, changedFiles, isRemoved: false };
  yield { piece: 'pack', tree, data: Buffer.from(text).toString('base64') };
}

/** The snapshots change one file each, in turn. */
function lastChange(file: number, step: number): number {
  const snapshot = step / 3;
  return 3 * (snapshot - ((snapshot - 1 - file) % filesOfJob));
}

function patchOf(file: number, step: number): string {
  const path = `src/file-${file}.ts`;
  const blob = String(step).padStart(40, '0');
  const lines = text.match(/.{1,70}/g) ?? [];
  return [
    `diff --git a/${path} b/${path}`,
    `index ${baseCommit}..${blob} 100644`,
    `--- a/${path}`,
    `+++ b/${path}`,
    `@@ -1,0 +1,${lines.length} @@`,
    ...lines.map((line) => `+${line}`),
    '',
  ].join('\n');
}
