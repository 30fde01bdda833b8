import type { Mutation } from './list.ts';

/** Every place that shows pages: each must know what its reader may read. */
export const readerSurfaceMutations: Mutation[] = [
  {
    name: 'a cache serves the pages of one reader to others',
    file: 'api/http/mount-routes.ts',
    find: 'ctx.vary(fields);',
    replace: '',
    project: 'integration',
    tests: ['api/access/vary'],
  },
];
