import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = 100;

interface ProcessTimes {
  parent: number;
  seconds: number;
}

/** CPU seconds, user and system, that a process and its ended children have used so far; 0 if it is gone. */
export function cpuSecondsOf(pid: number): number {
  return timesOf(pid)?.seconds ?? 0;
}

/** The same for a process and all of its descendants. */
export function cpuSecondsOfTree(root: number): number {
  const times = new Map<number, ProcessTimes>();
  for (const name of readdirSync('/proc')) {
    const known = /^\d+$/.test(name) ? timesOf(Number(name)) : null;
    if (known !== null) times.set(Number(name), known);
  }
  let sum = 0;
  for (const [pid, { seconds }] of times) if (descends(pid, root, times)) sum += seconds;
  return sum;
}

/** Seconds in which the main thread of a process was ready to run and others had its core. */
export function deniedSecondsOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e9;
  } catch {
    return 0;
  }
}

/** CPU seconds that the whole machine has been busy since it started. */
export function busySeconds(): number {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] = readFileSync('/proc/stat', 'utf8')
    .slice(0, 200)
    .split(/\s+/)
    .map(Number);
  return (user + nice + system + irq + softIrq) / ticksPerSecond;
}

export interface LoadMeter {
  /** Cores that everything but this program and its servers has used since the meter was made. */
  others(): number;
}

/** Measures what else the machine is busy with. */
export function meterLoad(): LoadMeter {
  const from = { busy: busySeconds(), own: cpuSecondsOfTree(process.pid), at: performance.now() };
  return {
    others() {
      const seconds = (performance.now() - from.at) / 1_000;
      const own = cpuSecondsOfTree(process.pid) - from.own;
      return Math.max(0, (busySeconds() - from.busy - own) / seconds);
    },
  };
}

function descends(pid: number, root: number, times: Map<number, ProcessTimes>): boolean {
  for (let at: number | undefined = pid; at !== undefined && at > 0; at = times.get(at)?.parent) {
    if (at === root) return true;
  }
  return false;
}

function timesOf(pid: number): ProcessTimes | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // the name of the process, in parentheses, may hold anything
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // user and system, then those of children that have ended
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parent: Number(fields[1]), seconds: ticks / ticksPerSecond };
  } catch {
    return null;
  }
}
