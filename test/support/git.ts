import { createGit, type Git, type GitOptions } from '../../activities/git/git.ts';
import { createProcessHost } from '../../activities/git/process-host.ts';

/** Of this test process: one of hundreds of megabytes takes ten times as long to start another. */
export const processHost = createProcessHost();

/** Git as a worker runs it, whose processes another one starts. */
export function createTestGit(options: GitOptions): Git {
  return createGit({ run: processHost.run, ...options });
}
