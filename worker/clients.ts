import { join } from 'node:path';
import { createEgress } from '../activities/clients/egress.ts';
import type { Forges } from '../activities/clients/forge.ts';
import { createForges } from '../activities/clients/forges.ts';
import type { BranchMerge, MergedBranch } from '../activities/clients/merge-branch.ts';
import { mergeBranch } from '../activities/clients/merge-branch.ts';
import { createGit } from '../activities/clients/git.ts';
import type { JobDisks } from '../activities/clients/job-disks.ts';
import { createLocalForge } from '../activities/clients/local-forge.ts';
import type { ProcessHost } from '../activities/clients/process-host.ts';
import { createWorkspaces } from '../activities/clients/workspaces.ts';
import type { Workspaces } from '../activities/clients/workspaces.ts';
import type { WorkerPullRequestStore } from '../db/worker/pull-requests.ts';
import { parseRepository } from '../workflows/contract/repository.ts';
import type { WorkerConfig } from './config.ts';
import { allAuthorities } from './extra-authorities.ts';
import { uninstrumented, type InstrumentWorker } from './instrument.ts';

/** The clients of outside systems that the activities of a process share. */
export interface WorkerClients {
  forges: Forges;
  workspaces: Workspaces;
  /** Why this worker may not use a repository; null when it may. */
  problemWithRepository(repository: string): string | null;
  /** The folders below which repositories and directories of this machine may lie; null: none. */
  roots: { repositories: string | null; directories: string | null };
  /** Brings a branch of a local repository into another. */
  mergeBranch(merge: BranchMerge): Promise<MergedBranch>;
}

export interface WorkerClientDeps {
  config: WorkerConfig;
  pullRequests: WorkerPullRequestStore;
  /** Starts git; without it this process does. */
  processes?: ProcessHost;
  /** Without it the trees of jobs lie on the disk of the worker. */
  disks?: JobDisks | null;
  instrument?: InstrumentWorker;
}

export function createClients(deps: WorkerClientDeps): WorkerClients {
  const { config, pullRequests, processes, disks = null, instrument = uninstrumented } = deps;
  const egress = createEgress({ privateHosts: config.privateHosts });
  const { extraAuthorities, cloneLimits: limits } = config;
  const authorities = extraAuthorities === null ? null : allAuthorities(extraAuthorities);
  const home = join(config.workDirectory, 'git-home');
  const git = instrument(
    'git',
    createGit({ home, authorities, egress, transfer: limits, memoryBytes: limits.memoryBytes, run: processes?.run }),
  );
  const local = createLocalForge({ pullRequests, baseUrl: config.baseUrl });
  const forges = instrument('forges', createForges({ local, egress, ...config.forges }));
  return {
    forges,
    workspaces: instrument('workspaces', createWorkspaces({ git, directory: config.workDirectory, limits, disks })),
    problemWithRepository(repository) {
      const parsed = parseRepository(repository, { ...config.repositories, mayUseSsh: true });
      return parsed.ok ? null : parsed.problem;
    },
    roots: { repositories: config.repositories.localRoot, directories: config.siteDirectories },
    mergeBranch: (merge) => mergeBranch(git, { directory: config.workDirectory, limits }, merge),
  };
}
