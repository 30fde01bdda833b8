import type { Pool } from 'pg';

export type ForgeKind = 'local' | 'github';

export interface OrganizationRow {
  id: string;
  name: string;
  createdAt: Date;
}

export interface ProjectRow {
  id: string;
  organizationId: string;
  name: string;
  repository: string;
  defaultRef: string | null;
  model: string | null;
  forge: ForgeKind;
  allowedRepositories: string[];
  createdAt: Date;
}

export interface OrganizationStore {
  create(organization: { name: string }): Promise<OrganizationRow>;
  get(id: string): Promise<OrganizationRow | null>;
  list(): Promise<OrganizationRow[]>;
}

export interface ProjectStore {
  create(project: Omit<ProjectRow, 'id' | 'createdAt'>): Promise<ProjectRow>;
  get(id: string): Promise<ProjectRow | null>;
  list(organizationId?: string): Promise<ProjectRow[]>;
}

export declare function createOrganizationStore(pool: Pool): OrganizationStore;
export declare function createProjectStore(pool: Pool): ProjectStore;
