import { join } from 'node:path';
import { createLayerFiles } from '../activities/environment/layer-files.ts';
import { createEgress } from '../lib/network/egress.ts';
import { createForges } from '../activities/forges/forges.ts';
import type { BranchMerge, BranchPair, MergedHead } from '../activities/workspaces/merge-branch.ts';
import { checkMerge, deleteBranch, mergeBranch } from '../activities/workspaces/merge-branch.ts';
import { createGit } from '../activities/git/git.ts';
import type { JobDisks } from '../activities/workspaces/job-disks.ts';
import { createPageNetwork } from '../activities/tools/fetch/fetch-page.ts';
import { createLocalForge } from '../activities/forges/local-forge.ts';
import type { ProcessHost } from '../activities/git/process-host.ts';
import { createWorkspaces } from '../activities/workspaces/workspaces.ts';
import type { WorkerPullRequestStore } from '../db/for-worker/pull-requests.ts';
import { parseRepository } from '../lib/inputs/repository.ts';
import type { WorkerConfig } from './config/config.ts';
import { allAuthorities } from './config/extra-authorities.ts';
import { uninstrumented, type InstrumentWorker } from './instrument.ts';

/** The clients of outside systems that the activities of a process share. */
export type WorkerClients = ReturnType<typeof createClients>;

export interface WorkerClientDeps {
  config: WorkerConfig;
  pullRequests: WorkerPullRequestStore;
  /** Starts git; by default this process does. */
  processes?: ProcessHost;
  /** Separate disks for the working copies of jobs; by default they are on the worker's disk. */
  disks?: JobDisks | null;
  instrument?: InstrumentWorker;
}

export function createClients(deps: WorkerClientDeps) {
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
  const mergeSettings = { directory: config.workDirectory, limits };
  return {
    forges,
    workspaces: instrument('workspaces', createWorkspaces({ git, directory: config.workDirectory, limits, disks })),
    /** Layers that the setups of jobs' environments installed, on this machine. */
    layerFiles: createLayerFiles({ directory: config.workDirectory, maxBytes: config.environments.machineBytes }),
    /** The way to web pages. */
    pages: createPageNetwork({ hosts: config.fetchHosts, privateHosts: config.privateHosts }),
    /** The way to MCP servers. */
    network: { egress, privateHosts: config.privateHosts },
    /** Returns why this worker may not use a repository; null when it may. */
    problemWithRepository(repository: string): string | null {
      const parsed = parseRepository(repository, { ...config.repositories, mayUseSsh: true });
      return parsed.ok ? null : parsed.problem;
    },
    /** Folders that contain the usable local repositories and directories; null when there are none. */
    roots: { repositories: config.repositories.localRoot, directories: config.siteDirectories },
    /** Throws GitError when git is missing or too old. */
    checkGit: () => git.checkVersion(),
    /** Merges a branch of a local repository into another. */
    mergeBranch: (merge: BranchMerge) => mergeBranch(git, mergeSettings, merge),
    /** Returns why a branch of a local repository could not be merged into another; null if it could. */
    checkMerge: (pair: BranchPair) => checkMerge(git, mergeSettings, pair),
    /** Deletes a merged branch of any repository, unless it has moved. */
    deleteBranch: (merged: MergedHead) => deleteBranch(git, mergeSettings, merged),
  };
}
