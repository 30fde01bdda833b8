import { timingSafeEqual } from 'node:crypto';
import type { Pool } from 'pg';
import { digestOf, parseKey } from '../db/organizations/key-format.ts';
import { createGrantAdministration } from '../db/for-operator/grants.ts';
import { createKeyStore } from '../db/organizations/keys.ts';
import type { KeyKind } from '../db/organizations/keys.ts';
import { operatorOf } from '../db/caller.ts';
import { listProjects, createProjectStore, type ProjectRow } from '../db/organizations/projects.ts';
import { createOrganizationDirectory } from '../db/for-operator/organizations.ts';
import { createProjectReader } from '../db/for-worker/projects/projects.ts';
import { createAccessStore, type AccessStore } from '../db/for-service/access.ts';
import { createSiteStore } from '../db/sites/sites.ts';
import { createSecretBox } from '../lib/encryption/secret-box.ts';
import { everything } from '../lib/inputs/grants.ts';
import type { LocalJson } from './local-json.ts';
import { createSampleRepository, sampleDocsPath } from './sample-repository.ts';

const organizationName = 'Local';
const sampleDomain = 'sample';
/** Domain of the site with Docket's own documentation. */
const ownDomain = 'docket';
const sampleQuestions = [
  'How do I run a scene?',
  'What can I do if a lamp does not answer?',
  'How do I change the port?',
];
const ownQuestions = [
  'How do I start an agent job?',
  'How do I connect a repository on GitHub?',
  'Which models can Docket use?',
];

export type Provisioned = Pick<LocalJson, 'projectId' | 'domain' | 'adminKey' | 'assistantKey'>;

export interface ProvisionOptions {
  pool: Pool;
  keyPepper: string;
  /** Folder of the sample repository. */
  repositories: string;
  /** Folder of Docket's own documentation; null to create no site for it. */
  documentation: string | null;
  /** Values that an earlier start recorded; null when there are none. */
  known: Provisioned | null;
}

/**
 * Creates what the first `curl` needs: an organization, a project and a site on the sample repository, a site of
 * Docket's own documentation, and a key of each kind. Reuses what an earlier start created, and replaces a key that no
 * longer works.
 */
export async function provision(options: ProvisionOptions): Promise<Provisioned> {
  const { pool, keyPepper, repositories, documentation, known } = options;
  const { repository } = await createSampleRepository({ directory: repositories });
  const { organizationId, projectId } = await ensureProject(pool, repository, known?.projectId ?? null);
  const domain = await ensureSite(pool, { organizationId, repository, known: known?.domain ?? null });
  if (documentation !== null) await ensureOwnSite(pool, { organizationId, documentation });
  const keys = createKeyStore(pool, keyPepper);
  const keyOf = async (kind: KeyKind, text: string | undefined) => {
    if (text !== undefined && (await works({ keys: createAccessStore(pool), keyPepper, text, kind, organizationId })))
      return text;
    return (await keys.create(operatorOf({ organizationId }), { kind, name: 'npm start' })).key;
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
  const known = knownId === null ? null : await createProjectReader(pool).get(knownId);
  const project = known ?? (await findSample(pool, repository)) ?? (await createSample(pool, repository));
  return { organizationId: project.organizationId, projectId: project.id };
}

async function findSample(pool: Pool, repository: string): Promise<ProjectRow | null> {
  const own = (await createOrganizationDirectory(pool).list()).filter(({ name }) => name === organizationName);
  for (const { id } of own) {
    const project = (await listProjects(pool, { organizationId: id })).find(
      (candidate) => candidate.repository === repository,
    );
    if (project !== undefined) return project;
  }
  return null;
}

async function createSample(pool: Pool, repository: string): Promise<ProjectRow> {
  const { id: organizationId } = await createOrganizationDirectory(pool).create({ name: organizationName });
  // a person who starts the stack on their own machine is also its operator
  await createGrantAdministration(pool).grant({ organizationId }, everything);
  // the sample has no secret to seal
  return createProjectStore(pool, createSecretBox([])).create(operatorOf({ organizationId }), {
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
  const operator = operatorOf({ organizationId });
  for (const domain of [known ?? sampleDomain, sampleDomain]) {
    const site = await sites.findByDomain(operator, domain);
    if (site !== null) return site.domain;
  }
  const sample = { domain: sampleDomain, repository, path: sampleDocsPath, starterQuestions: sampleQuestions };
  return (await sites.create(operator, sample)).domain;
}

async function ensureOwnSite(
  pool: Pool,
  { organizationId, documentation }: { organizationId: string; documentation: string },
): Promise<void> {
  const sites = createSiteStore(pool);
  const operator = operatorOf({ organizationId });
  if ((await sites.findByDomain(operator, ownDomain)) !== null) return;
  await sites.create(operator, { domain: ownDomain, directory: documentation, starterQuestions: ownQuestions });
}

interface KeyToCheck {
  keys: Pick<AccessStore, 'findKey'>;
  keyPepper: string;
  text: string;
  kind: KeyKind;
  organizationId: string;
}

async function works({ keys, keyPepper, text, kind, organizationId }: KeyToCheck): Promise<boolean> {
  const parsed = parseKey(text);
  const stored = parsed === null ? null : await keys.findKey(parsed.id);
  if (parsed === null || stored === null) return false;
  const isOwn = stored.kind === kind && parsed.kind === kind && stored.organizationId === organizationId;
  return !stored.hasEnded && isOwn && timingSafeEqual(stored.digest, digestOf(keyPepper, parsed.secret));
}
