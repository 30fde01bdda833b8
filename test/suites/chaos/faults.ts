import { setTimeout as delay } from 'node:timers/promises';
import type { ChildName } from '../../../local/local-json.ts';
import { identityOf, sendSignal } from '../../../local/processes/process-identity.ts';
import type { TestStack } from '../../support/stack/stack.ts';
import type { Random } from './plans/random.ts';

/** A process that was killed with SIGKILL, or suspended for a while. */
export interface Fault {
  kind: 'kill' | 'halt';
  target: ChildName;
  pid: number;
  atMs: number;
  /** When it served again, or null. */
  backMs: number | null;
}

export interface FaultOptions {
  stack: TestStack;
  random: Random;
  kills: number;
  halts: number;
  /** The progress of the run, from 0 to 1. */
  progress(): number;
  /** Resolves at the next reply of the model. */
  nextReply(): Promise<void>;
  onFault(fault: Fault): void;
}

const targets: readonly ChildName[] = ['worker', 'postgres', 'temporal', 'api'];
const labels = { worker: 'Worker', postgres: 'PostgreSQL', temporal: 'Temporal', api: 'API' };
/** Longer than it takes to notice a dead worker: its work is restarted while it still continues. */
const haltMs = 13_000;
/** A fault is not delayed for longer than this, so that a stuck run is hit, too. */
const patienceMs = 20_000;
const replyPatienceMs = 3_000;
const pollMs = 20;

/**
 * Kills and suspends processes throughout the run, in an order and at moments that the seed decides; most of the times
 * just after a reply of the model, when it is stored, tools run or the change is published. Every process is hit, and
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

/** Waits for the process to run, in case it is just restarting. */
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
