import type { Pool } from 'pg';

export interface PullRequestRow {
  id: string;
  repository: string;
  number: number;
  head: string;
  base: string;
  title: string;
  body: string;
  draft: boolean;
  state: 'open' | 'closed' | 'merged';
  createdAt: Date;
  updatedAt: Date;
}

/** Pull requests of the local forge. */
export interface PullRequestStore {
  /** One per (repository, head): a second create answers the first one, so two attempts never make two. */
  create(pullRequest: Omit<PullRequestRow, 'id' | 'number' | 'state' | 'createdAt' | 'updatedAt'>): Promise<PullRequestRow>;
  update(id: string, change: { title?: string; body?: string; draft?: boolean }): Promise<PullRequestRow | null>;
  findByHead(repository: string, head: string): Promise<PullRequestRow | null>;
  get(id: string): Promise<PullRequestRow | null>;
}

export declare function createPullRequestStore(pool: Pool): PullRequestStore;
