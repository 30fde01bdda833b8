import { appendFileSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';

/** `before`: the work is not done; `after`: it is done, but the caller is not told. */
export type Edge = 'before' | 'after';

/**
 * The fault: the process is killed; the connection is lost; a response takes seconds; the process is suspended for
 * longer than its timeout, and continues.
 */
export type FailpointAction = 'kill' | 'lose' | 'delay' | 'halt';

export interface Failpoint {
  id: string;
  /** E.g. `steps.storeResponse`. */
  name: string;
  edge: Edge;
  /** Which pass since arming triggers the failpoint, starting at 1. */
  hit: number;
  action: FailpointAction;
}

/** The failpoint of a lane, in a file that its processes share: armed by the suite, triggered by the first process. */
export function createFailpointFile(folder: string) {
  const armed = join(folder, 'armed.json');
  const passes = new Map<string, number>();
  let known = '';

  return {
    /** Reports that a failpoint was passed. Returns and disarms the fault to inject there. */
    pass(name: string, edge: Edge): FailpointAction | null {
      let text: string;
      try {
        text = readFileSync(armed, 'utf8');
      } catch {
        return null;
      }
      const point = JSON.parse(text) as Failpoint;
      if (point.id !== known) passes.clear();
      known = point.id;
      if (point.name !== name || point.edge !== edge) return null;
      const count = (passes.get(name) ?? 0) + 1;
      passes.set(name, count);
      if (count < point.hit) return null;
      try {
        renameSync(armed, join(folder, `fired-${point.id}.json`));
      } catch {
        return null; // another process was first
      }
      return point.action;
    },
    /** Records that a place was passed, while the suite wants to know. */
    trace(name: string): void {
      try {
        readFileSync(join(folder, 'tracing'));
      } catch {
        return;
      }
      appendFileSync(join(folder, 'trace.txt'), `${name}\n`);
    },
    /** Records which places exist. */
    list(names: Iterable<string>): void {
      appendFileSync(join(folder, 'names.txt'), [...names].map((name) => `${name}\n`).join(''));
    },
  };
}

export type FailpointFile = ReturnType<typeof createFailpointFile>;
