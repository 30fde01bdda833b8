import type { Pool } from 'pg';

export interface SiteRow {
  id: string;
  organizationId: string;
  domain: string;
  repository: string | null;
  directory: string | null;
  ref: string | null;
  path: string;
  /** Prefix of the links in sources; null: paths below `/`. */
  baseUrl: string | null;
  retentionDays: number;
  refreshMinutes: number | null;
  indexVersion: number;
  indexPages: number;
  indexedAt: Date | null;
  indexRequestedAt: Date | null;
  indexFailure: string | null;
  indexFailureMessage: string | null;
  createdAt: Date;
}

export interface NewSite {
  organizationId: string;
  domain: string;
  repository?: string;
  directory?: string;
  ref?: string;
  path?: string;
  baseUrl?: string;
  retentionDays?: number;
  refreshMinutes?: number;
}

export interface SiteStore {
  /** Throws DomainTakenError when another site has the domain. */
  create(site: NewSite): Promise<SiteRow>;
  get(id: string): Promise<SiteRow | null>;
  findByDomain(domain: string): Promise<SiteRow | null>;
  list(organizationId?: string): Promise<SiteRow[]>;
  /** Marks that an index is wanted; the worker's sweeper starts what nobody started. */
  requestIndex(id: string): Promise<void>;
  recordIndexFailure(id: string, failure: { category: string; message: string }): Promise<void>;
}

export interface StoredIndex {
  version: number;
  format: number;
  sourceHash: string;
  sizeBytes: number;
  pages: number;
  chunks: number;
}

export interface SiteIndexStore {
  /** The version that serves now; null before the first. */
  current(siteId: string): Promise<StoredIndex | null>;
  /** Stores the artifact in content-addressed blocks, and makes it the current version; older versions beyond two are removed. */
  publish(siteId: string, index: { format: number; sourceHash: string; pages: number; chunks: number; file: string }): Promise<StoredIndex>;
  /** Writes the artifact of a version to a file, taking blocks from `previousFile` where it holds them already. */
  download(siteId: string, version: number, target: { file: string; previousFile?: string }): Promise<void>;
}

export class DomainTakenError extends Error {
  override name = 'DomainTakenError';
}

export declare function createSiteStore(pool: Pool): SiteStore;
export declare function createSiteIndexStore(pool: Pool): SiteIndexStore;
