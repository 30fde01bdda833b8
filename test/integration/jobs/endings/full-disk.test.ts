import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTestGit } from '../../../support/git.ts';
import { createWorkspaces } from '../../../../activities/workspaces/workspaces.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { mountSmallDisk } from '../../../support/sandbox/small-disk.ts';
import { writingOf } from '../../../support/writing-script.ts';
import { ofFile } from '../../../support/of-file.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

const writing = writingOf('new\n'.repeat(10_000));

describe('a full disk', () => {
  it(
    'fails the jobs that need space with the reason, and jobs continue once there is space again',
    { tags: 'slow' },
    async ({ skip }) => {
      await using disk = await mountSmallDisk(8);
      if (disk === null) return skip('this account may not mount a file system');
      const git = createTestGit({ home: join(disk.directory, 'git-home'), transports: ['file'] });
      const workspaces = createWorkspaces({ git, directory: join(disk.directory, 'work') });
      await using stack = await startJobStack({ database, change: () => ({ workspaces }) });
      const { repository, model, worker } = stack;
      const request = { prompt: 'Go', repository: repository.path };

      model.script(async () => {
        await disk.fill();
        return writing[0]!;
      });
      const midway = await worker.runJob(request);
      expect(midway).toMatchObject({ status: 'failed', failureCategory: 'tool_failure', prLink: null });
      expect(midway.message).not.toBe('');

      const atOnce = await worker.runJob(request);
      expect(atOnce).toMatchObject({ status: 'failed', failureCategory: 'tool_failure', prLink: null });

      await disk.empty();
      model.script(...writing);
      expect(await worker.runJob(request)).toMatchObject({ status: 'completed', failureCategory: null });
      expect(model.violations).toEqual([]);
      expect(await repository.git('for-each-ref', '--format=%(refname)', 'refs/heads/docket')).not.toContain('\n');
    },
  );
});
