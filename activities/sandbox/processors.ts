import { readFileSync } from 'node:fs';

/** Processors of one command, given back when it is disposed of. */
export interface TakenProcessors extends Disposable {
  /** List for `taskset`; null for all that the worker has. */
  list: string | null;
}

/** Returns the processors that this process may use; workers of one machine do not all begin with the same one. */
export function ownProcessors(): number[] {
  const [, list = ''] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  const all = list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
  const begin = process.pid % all.length;
  return [...all.slice(begin), ...all.slice(0, begin)];
}

export type Processors = ReturnType<typeof createProcessors>;

/** Spreads commands over processors. */
export function createProcessors(own: readonly number[]) {
  const commands = new Map(own.map((processor) => [processor, 0]));
  return {
    /** Takes those with the fewest commands. Without a count, or with one that is too high, a command may use all. */
    take(count: number = own.length): TakenProcessors {
      if (count >= own.length) return { list: null, [Symbol.dispose]: () => undefined };
      const least = [...commands].sort(([, one], [, other]) => one - other).slice(0, count);
      const taken = least.map(([processor]) => processor);
      const change = (by: number) => {
        for (const processor of taken) commands.set(processor, (commands.get(processor) ?? 0) + by);
      };
      change(1);
      return { list: taken.join(','), [Symbol.dispose]: () => change(-1) };
    },
  };
}
