import type { Mutation } from './list.ts';

/** What erased conversations, descriptions and operations at once are held to. */
export const attackThreeMutations: Mutation[] = [
  {
    name: 'a conversation that was deleted comes back with its answer',
    file: 'db/sites/threads.ts',
    find: 'const { rowCount } = await client.query({ ...holdThread',
    replace: `await open({ id, organizationId }, { threadId: turn.threadId, fp: '' }).catch(() => {});
      const { rowCount } = await client.query({ ...holdThread`,
    project: 'integration',
    tests: ['db/threads'],
  },
];
