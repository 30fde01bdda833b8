import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acquireLock, tryLock } from '../../../lib/file-lock.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { access, createTestWorkspaces, live } from '../clients/setup.ts';

describe('the lock of a job', () => {
  it('lets one owner work at a time, in whatever order they arrive', async () => {
    await using repository = await createTestRepository();
    await using test = await createTestWorkspaces();
    const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
    let inside = 0;
    let most = 0;
    const owners = [test.workspaces, test.again(), test.again()];
    await Promise.all(
      Array.from({ length: 9 }, async (_, at) => {
        const opened = await owners[at % 3]!.open({
          ...access(repository.path),
          jobId: 'job',
          baseCommit: commit,
          snapshot: null,
        });
        inside += 1;
        most = Math.max(most, inside);
        await writeFile(join(opened.path, `file-${at}`), 'x');
        inside -= 1;
        await opened.release();
      }),
    );
    expect(most).toBe(1);
  });

  it('is released as soon as the process that holds it is killed', async () => {
    await using test = await createTestWorkspaces();
    const path = join(test.directory, 'lock');
    const child = spawn(process.execPath, [join(import.meta.dirname, '../clients/hold-lock.ts'), path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await once(child.stdout, 'data');
      expect(tryLock(path)).toBeNull();
      const waiting = acquireLock(path, { signal: live });
      await killed(child);
      (await waiting)[Symbol.dispose]();
    } finally {
      await killed(child);
    }
  });

  it('excludes others even if its file is removed', async () => {
    await using test = await createTestWorkspaces();
    const path = join(test.directory, 'lock');
    let inside = 0;
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const lock = await acquireLock(path, { signal: live });
        inside += 1;
        expect(inside).toBe(1);
        await new Promise(setImmediate);
        inside -= 1;
        lock.remove();
      }),
    );
  });

  it('stops waiting when the job is stopped', async () => {
    await using test = await createTestWorkspaces();
    const path = join(test.directory, 'lock');
    using _lock = await acquireLock(path, { signal: live });
    const reason = new Error('The job was stopped.');
    const controller = new AbortController();
    const waiting = acquireLock(path, controller);
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });
});

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
