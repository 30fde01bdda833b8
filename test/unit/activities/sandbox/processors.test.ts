import { availableParallelism } from 'node:os';
import { expect, it } from 'vitest';
import { createProcessors, ownProcessors } from '../../../../activities/sandbox/processors.ts';

it('gives each command the processors with the fewest commands', () => {
  const processors = createProcessors([2, 3, 0, 1]);
  const first = processors.take(2);
  const second = processors.take(2);
  const third = processors.take(3);
  expect([first, second, third].map(({ list }) => list)).toEqual(['2,3', '0,1', '2,3,0']);
  expect(processors.take(1).list).toBe('1');
  third[Symbol.dispose]();
  second[Symbol.dispose]();
  expect(processors.take(1).list).toBe('0');
});

it('leaves all processors to a command without a limit, or with one that the machine does not reach', () => {
  const processors = createProcessors([0, 1]);
  expect([processors.take(), processors.take(2), processors.take(64)].map(({ list }) => list)).toEqual([
    null,
    null,
    null,
  ]);
  expect(processors.take(1).list).toBe('0');
});

it.runIf(process.platform === 'linux')('knows the processors of this process', () => {
  const own = ownProcessors();
  expect(new Set(own).size).toBe(own.length);
  expect(own.length).toBeGreaterThanOrEqual(availableParallelism());
});
