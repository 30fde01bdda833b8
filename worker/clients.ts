import { join } from 'node:path';
import type { Forges } from '../activities/clients/forge.ts';
import { createForges } from '../activities/clients/forges.ts';
import { createGit } from '../activities/clients/git.ts';
import { createLocalForge } from '../activities/clients/local-forge.ts';
import type { GitCredential } from '../activities/clients/git.ts';
import { createWorkspaces } from '../activities/clients/workspaces.ts';
import type { Workspaces } from '../activities/clients/workspaces.ts';
import type { PullRequestStore } from '../db/pull-requests.ts';
import { parseRepository } from '../workflows/contract/repository.ts';
import type { WorkerConfig } from './config.ts';
import { uninstrumented, type InstrumentWorker } from './instrument.ts';

/** The clients of outside systems that the activities of a process share. */
export interface WorkerClients {
  forges: Forges;
  workspaces: Workspaces;
  /** Why this worker may not use a repository; null when it may. */
  problemWithRepository(repository: string): string | null;
  /** What a repository is read with; null: nothing, which will do for a public one. */
  credentialOf(repository: string): GitCredential | null;
}

export interface WorkerClientDeps {
  config: WorkerConfig;
  pullRequests: PullRequestStore;
  instrument?: InstrumentWorker;
}

export function createClients({ config, pullRequests, instrument = uninstrumented }: WorkerClientDeps): WorkerClients {
  const git = instrument('git', createGit({ home: join(config.workDirectory, 'git-home') }));
  const local = createLocalForge({ pullRequests, baseUrl: config.baseUrl });
  const forges = instrument('forges', createForges({ local, ...config.forges }));
  return {
    forges,
    workspaces: instrument('workspaces', createWorkspaces({ git, directory: config.workDirectory })),
    problemWithRepository(repository) {
      const parsed = parseRepository(repository, config.repositories);
      return parsed.ok ? null : parsed.problem;
    },
    credentialOf: (repository) => forges.credentialOf(repository),
  };
}
