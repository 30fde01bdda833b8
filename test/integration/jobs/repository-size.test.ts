import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTestGit } from '../../support/git.ts';
import { createWorkspaces } from '../../../activities/workspaces/workspaces.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { recordHistory } from '../../support/database/histories.ts';
import { startTestWorker } from '../../support/stack/worker.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

it('a job on a repository with too many files fails at once and names the limit to raise', async () => {
  const directory = temporaryDirectory();
  await using database = await createTestDatabase();
  await using repository = await createTestRepository({ 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' });
  const git = createTestGit({ home: join(directory, 'home'), transports: ['file'] });
  const limits = { bytes: 1e6, files: 2, depth: 10 };
  await using worker = await startTestWorker({
    database,
    change: () => ({ workspaces: createWorkspaces({ git, directory: join(directory, 'work'), limits }) }),
  });
  const prompt = 'Create new.txt with "new"';
  const job = await worker.runJob({ prompt, repository: repository.path });
  expect(job).toMatchObject({ status: 'failed', failureCategory: 'repository_too_large', prLink: null });
  expect(job.message).toMatch(/more than 2 files\. To allow it, raise the worker's DOCKET_REPOSITORY_FILES/);
  expect(await repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  await recordHistory('failed-repository-too-large', worker.client.workflow.getHandle(`agent-job/${job.id}`));
});
