import { expect, it } from 'vitest';
import { buildPage, indexOf } from '../build.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

it('ranks a section that a question names above a page that repeats synonyms beside its words', () => {
  using index = indexOf(temporaryDirectory(), [
    buildPage({
      path: 'testing',
      metadata: { title: 'Testing' },
      content: `## Chaos\n\n${'Each kill hits a job; at most one call per kill and job is repeated. '.repeat(4)}`,
    }),
    buildPage({
      path: 'jobs',
      metadata: { title: 'Agent jobs' },
      content: '## Stop a job: cancel, archive, delete\n\nA turn ends at once with the status `failed`.\n',
    }),
    buildPage({ path: 'other', metadata: { title: 'Other' }, content: 'Kettles boil water.' }),
  ]);
  expect(index.search({ query: 'How do I stop a job?', limit: 1 })[0]?.path).toBe('jobs');
});
