import { expect, it } from 'vitest';
import { createBatchLoader } from '../../../db/batch-loader.ts';

function recordingSource(answer: (ids: string[]) => Promise<{ id: string }[]>, atOnce = Infinity) {
  const asked: string[][] = [];
  const loader = createBatchLoader<{ id: string }, { id: string }>({
    keyOf: ({ id }) => id,
    atOnce,
    loadMany(keys) {
      const ids = keys.map(({ id }) => id);
      asked.push(ids);
      return answer(ids);
    },
  });
  return { asked, loader: { load: (id: string) => loader.load({ id }) } };
}

it('batches all lookups of one turn of the event loop, with each id once', async () => {
  const { asked, loader } = recordingSource(async (ids) => ids.filter((id) => id !== 'c').map((id) => ({ id })));
  const found = await Promise.all(['a', 'b', 'a', 'c'].map((id) => loader.load(id)));
  expect(asked).toEqual([['a', 'b', 'c']]);
  expect(found).toEqual([{ id: 'a' }, { id: 'b' }, { id: 'a' }, null]);
});

it('collects lookups that begin in different callbacks of one turn', async () => {
  const { asked, loader } = recordingSource(async (ids) => ids.map((id) => ({ id })));
  const first = loader.load('a');
  const second = Promise.resolve().then(() => loader.load('b'));
  await Promise.all([first, second]);
  expect(asked).toEqual([['a', 'b']]);
});

it('queries again in the next turn, even while a query is running', async () => {
  const gate = Promise.withResolvers<void>();
  const { asked, loader } = recordingSource(async (ids) => {
    await gate.promise;
    return ids.map((id) => ({ id }));
  });
  const first = loader.load('a');
  await new Promise(setImmediate);
  const second = loader.load('a');
  await new Promise(setImmediate);
  gate.resolve();
  await Promise.all([first, second]);
  expect(asked).toEqual([['a'], ['a']]);
});

it('fails every lookup of a turn whose query fails, and works again in the next', async () => {
  let isDown = true;
  const { loader } = recordingSource(async (ids) => {
    if (isDown) throw new Error('down');
    return ids.map((id) => ({ id }));
  });
  const outcomes = await Promise.allSettled([loader.load('a'), loader.load('b')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isDown = false;
  expect(await loader.load('a')).toEqual({ id: 'a' });
});

it('collects while as many queries run as may run at once', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const answers = gates.values();
  const { asked, loader } = recordingSource(async (ids) => {
    await answers.next().value?.promise;
    return ids.map((id) => ({ id }));
  }, 1);
  const found = [loader.load('a')];
  for (const id of ['b', 'c', 'd']) {
    await new Promise(setImmediate);
    found.push(loader.load(id));
  }
  await new Promise(setImmediate);
  expect(asked).toEqual([['a']]);
  gates[0]!.reject(new Error('down'));
  await expect(found[0]).rejects.toThrow('down');
  gates[1]!.resolve();
  expect(await Promise.all(found.slice(1))).toEqual([{ id: 'b' }, { id: 'c' }, { id: 'd' }]);
  expect(asked).toEqual([['a'], ['b', 'c', 'd']]);
});

it('queries for what it has collected once fewer queries run than may run at once', async () => {
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const answers = gates.values();
  const { asked, loader } = recordingSource(async (ids) => {
    await answers.next().value?.promise;
    return ids.map((id) => ({ id }));
  }, 2);
  const found = [];
  for (const id of ['a', 'b', 'c', 'd']) {
    found.push(loader.load(id));
    await new Promise(setImmediate);
  }
  expect(asked).toEqual([['a'], ['b']]);
  gates[1]!.resolve();
  await found[1];
  await expect.poll(() => asked).toEqual([['a'], ['b'], ['c', 'd']]);
  for (const { resolve } of gates) resolve();
  expect(await Promise.all(found)).toEqual(['a', 'b', 'c', 'd'].map((id) => ({ id })));
  expect(await loader.load('e')).toEqual({ id: 'e' });
  expect(asked).toHaveLength(4);
});
