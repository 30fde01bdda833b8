import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { unpackHistory } from '../../../db/jobs/stored-history.ts';
import { replayRuns } from '../../../worker/replay/replay-history.ts';
import { prepareWorkflowBundle } from '../../../worker/workflow-bundle.ts';
import { jobWorkflowId } from '../../../workflows/contract/messages.ts';
import { cpuSecondsOf } from './support/cpu.ts';
import { writeJobBundle } from './support/job-bundle.ts';
import type { BenchOptions } from './support/options.ts';
import { recordedTurn, recordRuns, type RecordedRuns } from './support/record-runs.ts';
import { figure, median, printNote, printTable } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';

const program = join(import.meta.dirname, '../../../cli/docket.ts');

/** The time to run the workflow code over the history of a long job, compared with the shortest possible one. */
export async function benchReplay(servers: BenchServers, options: BenchOptions): Promise<void> {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    shutdownSignals: [],
    telemetryOptions: { logging: { forward: {}, filter: 'OFF' } },
  });
  const { address } = await servers.temporal();
  const bundle = await prepareWorkflowBundle();
  const code: Measured[] = [];
  const command: Measured[] = [];
  for (const steps of options.isQuick ? [1, 30] : [1, 300]) {
    const runs = await recordRuns({ address, bundle, steps });
    code.push({ steps, runs, ...(await measure(options.rounds, () => replay(bundle, runs))) });
    const file = join(servers.directory, `${steps}.docket.gz`);
    await writeJobBundle(file, { steps, runs });
    command.push({ steps, runs, ...(await measure(options.rounds, () => runCommand(file))) });
  }
  print('replay: the workflow code over a history, unpacking included, nothing cached', code);
  print('job replay: the whole command over a bundle of the job, each time a process of its own', command);
  printNote('aim: a history of 300 steps in ≤ 1,000 ms');
}

interface Measured {
  steps: number;
  runs: RecordedRuns;
  ms: number;
  cpuMs: number;
}

async function replay(bundle: string, runs: RecordedRuns): Promise<void> {
  const workflowId = jobWorkflowId(recordedTurn.jobId, recordedTurn.turn);
  const histories = await Promise.all(runs.map(({ history }) => unpackHistory(history)));
  const verdict = await replayRuns({ bundle, workflowId, runs: histories });
  if (!verdict.matches) throw new Error(verdict.problem);
}

async function runCommand(file: string): Promise<void> {
  const child = spawn(process.execPath, [program, 'job', 'replay', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`docket job replay ended with ${String(status)}.`);
}

/** The medians of several rounds. */
async function measure(rounds: number, work: () => Promise<void>) {
  const times: number[] = [];
  const cpu: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [startedAt, cpuBegin] = [performance.now(), cpuSecondsOf(process.pid)];
    await work();
    times.push(performance.now() - startedAt);
    cpu.push((cpuSecondsOf(process.pid) - cpuBegin) * 1000);
  }
  return { ms: median(times), cpuMs: median(cpu) };
}

function print(title: string, measured: Measured[]): void {
  const shortest = measured[0]?.ms ?? Number.NaN;
  const rows = measured.map(({ steps, runs, ms, cpuMs }) => {
    const events = runs.reduce((sum, { eventCount }) => sum + eventCount, 0);
    const stored = runs.reduce((sum, { history }) => sum + history.length, 0);
    return [`${steps} steps`, events, runs.length, stored, figure(ms), figure(cpuMs), figure(ms / shortest)];
  });
  printTable(title, ['', 'events', 'runs', 'bytes kept', 'ms', 'CPU ms', 'times the shortest'], rows);
}
