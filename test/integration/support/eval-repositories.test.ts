import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { createRepositories } from '../../suites/eval/repositories.ts';
import { gitRequestOf, serveGit } from '../../support/forges/serve-git.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { listening } from '../../support/servers/listening.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

it('repeats a fetch that fails, but not again of a repository for which that did not help', async () => {
  await using lamp = await createTestRepository();
  let fetches = 0;
  let faults = Infinity;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const asked = gitRequestOf(url);
    if (asked?.path === 'info/refs') fetches += 1;
    if (asked === null || fetches <= faults) return void response.writeHead(503).end();
    serveGit(request, response, { repository: lamp.path, path: asked.path, query: url.search.slice(1), isLost: false });
  });
  await using at = await listening(server);
  const source = `http://127.0.0.1:${at.port}/{owner}/{name}`;
  const repositories = createRepositories({ folder: temporaryDirectory(), source, pausesMs: [1, 1] });
  const commit = await lamp.git('rev-parse', 'main');
  const task = { kind: 'instance', language: '-', commit, prompt: 'x', needs: [], seed: [], check: null };
  const prepare = (repository: string) => repositories.prepare({ ...task, id: 'lamp', repository });

  for (const tries of [3, 1]) {
    fetches = 0;
    await expect(prepare('acme/lamp')).rejects.toThrow(/acme\/lamp cannot be fetched at /);
    expect(fetches).toBe(tries);
  }
  [fetches, faults] = [0, 2];
  const { pinned } = await prepare('acme/torch');
  expect([fetches, pinned]).toEqual([3, await lamp.git('rev-parse', 'main^{tree}')]);
});
