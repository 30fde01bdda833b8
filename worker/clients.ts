import { join } from 'node:path';
import type { Pool } from 'pg';
import type { Forges } from '../activities/clients/forge.ts';
import { createForges } from '../activities/clients/forges.ts';
import { createGit } from '../activities/clients/git.ts';
import { createLocalForge } from '../activities/clients/local-forge.ts';
import { createWorkspaces } from '../activities/clients/workspaces.ts';
import type { Workspaces } from '../activities/clients/workspaces.ts';
import { createPullRequestStore } from '../db/pull-requests.ts';
import { parseRepository } from '../workflows/contract/repository.ts';
import type { WorkerConfig } from './config.ts';

/** The clients of outside systems that the activities of a process share. */
export interface WorkerClients {
  forges: Forges;
  workspaces: Workspaces;
  /** Why this worker may not use a repository; null when it may. */
  problemWithRepository(repository: string): string | null;
}

export function createClients({ config, pool }: { config: WorkerConfig; pool: Pool }): WorkerClients {
  const git = createGit({ home: join(config.workDirectory, 'git-home') });
  const local = createLocalForge({ pullRequests: createPullRequestStore(pool), baseUrl: config.baseUrl });
  return {
    forges: createForges({ local, github: config.github }),
    workspaces: createWorkspaces({ git, directory: config.workDirectory }),
    problemWithRepository(repository) {
      const parsed = parseRepository(repository, config.repositories);
      return parsed.ok ? null : parsed.problem;
    },
  };
}
