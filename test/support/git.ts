import { createGit, type Git, type GitOptions } from '../../activities/git/git.ts';
import { createProcessHost } from '../../activities/git/process-host.ts';

/** Shared by the test process, because a process of hundreds of megabytes takes ten times as long to start another. */
export const processHost = createProcessHost();

/** Creates git as a worker does, with a separate process that starts its commands. */
export function createTestGit(options: GitOptions): Git {
  return createGit({ run: processHost.run, ...options });
}
