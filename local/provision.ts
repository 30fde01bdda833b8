import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Pool } from 'pg';
import { digestOf, parseKey } from '../db/key-format.ts';
import { createGrantAdministration } from '../db/grants.ts';
import { createKeyStore } from '../db/keys.ts';
import type { KeyKind, KeyStore } from '../db/keys.ts';
import { createOrganizationStore, createProjectStore } from '../db/projects.ts';
import type { OrganizationRow, ProjectRow } from '../db/projects.ts';
import { createSiteStore } from '../db/sites.ts';
import { everything } from '../workflows/contract/grants.ts';
import type { LocalJson } from './local-json.ts';
import { createSampleRepository, sampleDocsPath } from './sample-repository.ts';

const organizationName = 'Local';
const sampleDomain = 'sample';

export type Provisioned = Pick<LocalJson, 'projectId' | 'domain' | 'adminKey' | 'assistantKey'>;

export interface ProvisionOptions {
  pool: Pool;
  keyPepper: string;
  /** Folder of the sample repository. */
  repositories: string;
  /** What an earlier start wrote down; null: nothing. */
  known: Provisioned | null;
}

/**
 * What the first `curl` needs: an organization, a project and a site on the sample repository, and a key of each kind. What an
 * earlier start made and is still there and valid is kept; a key that no longer works is replaced.
 */
export async function provision({ pool, keyPepper, repositories, known }: ProvisionOptions): Promise<Provisioned> {
  const { repository } = await createSampleRepository({ directory: repositories });
  const { organizationId, projectId } = await ensureProject(pool, repository, known?.projectId ?? null);
  const domain = await ensureSite(pool, { organizationId, repository, known: known?.domain ?? null });
  const keys = createKeyStore(pool, keyPepper);
  const keyOf = async (kind: KeyKind, text: string | undefined) => {
    if (text !== undefined && (await works({ keys, keyPepper, text, kind, organizationId }))) return text;
    return (await keys.create({ organizationId, kind, name: 'npm start' })).key;
  };
  return {
    projectId,
    domain,
    adminKey: await keyOf('admin', known?.adminKey),
    assistantKey: await keyOf('assistant', known?.assistantKey),
  };
}

async function ensureProject(
  pool: Pool,
  repository: string,
  knownId: string | null,
): Promise<{ organizationId: string; projectId: string }> {
  const projects = createProjectStore(pool);
  const known = knownId === null ? null : await projects.get(knownId);
  const project = known ?? (await findSample(pool, repository)) ?? (await createSample(pool, repository));
  return { organizationId: project.organizationId, projectId: project.id };
}

async function findSample(pool: Pool, repository: string): Promise<ProjectRow | null> {
  const own = (await createOrganizationStore(pool).list()).filter(({ name }) => name === organizationName);
  for (const { id } of own) {
    const project = (await createProjectStore(pool).list(id)).find((candidate) => candidate.repository === repository);
    if (project !== undefined) return project;
  }
  return null;
}

async function createSample(pool: Pool, repository: string): Promise<ProjectRow> {
  const organization: OrganizationRow = await createOrganizationStore(pool).create({ name: organizationName });
  // whoever starts it on a machine of his own is the operator, too
  await createGrantAdministration(pool).grant({ organizationId: organization.id }, everything);
  return createProjectStore(pool).create({
    organizationId: organization.id,
    name: 'Sample',
    repository,
    defaultRef: null,
    model: null,
    forge: 'local',
    allowedRepositories: [],
  });
}

async function ensureSite(
  pool: Pool,
  { organizationId, repository, known }: { organizationId: string; repository: string; known: string | null },
): Promise<string> {
  const sites = createSiteStore(pool);
  for (const domain of [known ?? sampleDomain, sampleDomain]) {
    const site = await sites.findByDomain(domain);
    if (site?.organizationId === organizationId) return site.domain;
  }
  // a database that others use, too, may know the domain already
  const isTaken = (await sites.findByDomain(sampleDomain)) !== null;
  const domain = isTaken ? `${sampleDomain}-${randomBytes(4).toString('hex')}` : sampleDomain;
  const site = await sites.create({ organizationId, domain, repository, path: sampleDocsPath });
  await sites.requestIndex(site.id);
  return site.domain;
}

interface KeyToCheck {
  keys: KeyStore;
  keyPepper: string;
  text: string;
  kind: KeyKind;
  organizationId: string;
}

async function works({ keys, keyPepper, text, kind, organizationId }: KeyToCheck): Promise<boolean> {
  const parsed = parseKey(text);
  const stored = parsed === null ? null : await keys.find(parsed.id);
  if (parsed === null || stored === null) return false;
  const isValid = stored.revokedAt === null && (stored.expiresAt === null || stored.expiresAt > new Date());
  const isOwn = stored.kind === kind && parsed.kind === kind && stored.organizationId === organizationId;
  return isValid && isOwn && timingSafeEqual(stored.digest, digestOf(keyPepper, parsed.secret));
}
