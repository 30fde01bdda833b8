import { expect, it } from 'vitest';
import { buildPage, indexOf } from '../build.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const changes = '## 0.9.1\n\nDeploy with Docker.\n\n## 0.9.0\n\nA container.\n';
const guide = 'Teams deploy with Docker.';

it.each(['release-notes', 'docs/CHANGELOG', 'about/changes', 'whats-new/2024'])(
  'ranks a guide before %s, unless the question is about a change',
  (path) => {
    using index = indexOf(temporaryDirectory(), [
      buildPage({ path, metadata: { title: 'All releases' }, content: changes }),
      buildPage({ path: 'guides/containers', metadata: { title: 'Containers' }, content: guide }),
    ]);
    const first = (query: string) => index.search({ query, limit: 1 })[0]?.path;
    expect(first('deploy with docker')).toBe('guides/containers');
    for (const query of ['What changed for docker?', 'docker 0.9', 'new in docker', 'breaking: deploy with docker'])
      expect(first(query)).toBe(path);
  },
);

it('keeps the boost that a changelog states', () => {
  using index = indexOf(temporaryDirectory(), [
    buildPage({ path: 'changelog', boost: 0.2, metadata: { title: 'A' }, content: 'Kettles boil.' }),
    buildPage({ path: 'old', boost: 0.15, metadata: { title: 'B' }, content: 'Kettles boil.' }),
  ]);
  expect(index.search({ query: 'kettles', limit: 1 })[0]?.path).toBe('changelog');
});
