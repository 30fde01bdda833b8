import { setTimeout as delay } from 'node:timers/promises';
import type { ChildName } from '../../../local/local-json.ts';
import { identityOf, sendSignal } from '../../../local/processes/process-identity.ts';
import type { TestStack } from '../../support/stack.ts';
import type { Random } from './random.ts';

/** A process that was killed with SIGKILL, or halted for a while. */
export interface Fault {
  kind: 'kill' | 'halt';
  target: ChildName;
  pid: number;
  atMs: number;
  /** When it served again; null: not yet. */
  backMs: number | null;
}

export interface FaultOptions {
  stack: TestStack;
  random: Random;
  kills: number;
  halts: number;
  /** How far the run is, from 0 to 1. */
  progress(): number;
  /** Resolves at the next reply of the model. */
  nextReply(): Promise<void>;
  onFault(fault: Fault): void;
}

const targets: readonly ChildName[] = ['worker', 'postgres', 'temporal', 'api'];
const labels = { worker: 'Worker', postgres: 'PostgreSQL', temporal: 'Temporal', api: 'API' };
/** Longer than a dead worker takes to be noticed: what it was doing is begun anew while it still goes on. */
const haltMs = 13_000;
/** A fault is not put off for longer than this, so that a run that stands still sees it, too. */
const patienceMs = 20_000;
const replyPatienceMs = 3_000;
const pollMs = 20;

/**
 * Kills and halts processes, spread over the run, in an order and at moments that the seed decides; more than half of them
 * just after a reply of the model, when it is stored, tools run or the change is published. Every process has its turn;
 * some die before the last one is back. Resolves when all are back.
 */
export async function causeFaults(options: FaultOptions): Promise<void> {
  const { stack, random, kills, halts, progress, nextReply, onFault } = options;
  const recoveries: Promise<void>[] = [];
  const kinds = random.shuffled([...Array<'kill'>(kills).fill('kill'), ...Array<'halt'>(halts).fill('halt')]);
  let order: ChildName[] = [];
  for (const [index, kind] of kinds.entries()) {
    await untilProgress(progress, (index + random.next()) / (kinds.length + 0.5));
    if (random.next() < 0.6) await Promise.race([nextReply(), delay(replyPatienceMs)]);
    await delay(random.pick([0, 5, 10, 20, 50, 100, 200, 800]) * random.next());
    if (order.length === 0) order = random.shuffled(targets);
    const target = kind === 'halt' ? random.pick(['worker', 'temporal'] as const) : order.pop()!;
    const said = stack.output().length;
    const fault = { kind, target, pid: await hit(stack, target, kind), atMs: Date.now(), backMs: null };
    onFault(fault);
    const recovery = kind === 'halt' ? wakeUp(stack, fault) : untilBack(stack, fault, said);
    recoveries.push(recovery);
    if (kind === 'halt' || random.next() < 0.7) await recovery;
  }
  await Promise.all(recoveries);
}

async function untilProgress(progress: () => number, wanted: number): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (progress() < wanted && Date.now() < deadline) await delay(pollMs);
}

/** Waits for the process to run, should it just be starting again. */
async function hit(stack: TestStack, target: ChildName, kind: Fault['kind']): Promise<number> {
  for (;;) {
    const pid = (await stack.read()).pids[target];
    const lives = pid !== null && (await identityOf(pid)) !== null;
    if (lives && sendSignal(pid, kind === 'halt' ? 'SIGSTOP' : 'SIGKILL')) return pid;
    await delay(pollMs);
  }
}

async function wakeUp(stack: TestStack, fault: Fault): Promise<void> {
  await delay(haltMs);
  await stack.resume(fault.target);
  fault.backMs = Date.now();
}

async function untilBack(stack: TestStack, fault: Fault, said: number): Promise<void> {
  const sentence = `${labels[fault.target]} runs again`;
  while (!stack.output().slice(said).includes(sentence)) await delay(pollMs);
  fault.backMs = Date.now();
}
