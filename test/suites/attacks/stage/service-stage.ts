import { buildIndexedSite, type TestSite } from '../../../integration/assistant/site.ts';
import { serveApi, type Answer, type ServedApi } from '../../../integration/api/serve.ts';
import type { JobRow } from '../../../../db/jobs/jobs.ts';
import type { ProjectRow } from '../../../../db/organizations/projects.ts';
import { buildJob, buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/database.ts';

/** Two organizations on one installation. */
export interface ServiceStage extends AsyncDisposable {
  database: TestDatabase;
  api: ServedApi;
  mine: Owner;
  theirs: Owner;
}

export interface Owner {
  project: ProjectRow;
  job: JobRow;
  admin: string;
  assistant: string;
  site: TestSite;
}

let opened: Promise<ServiceStage> | null = null;

/** The one stage of a test file. */
export function serviceStage(): Promise<ServiceStage> {
  return (opened ??= openStage());
}

export async function closeServiceStage(): Promise<void> {
  const stage = await opened;
  opened = null;
  await stage?.[Symbol.asyncDispose]();
}

async function openStage(): Promise<ServiceStage> {
  const database = await createTestDatabase();
  const api = await serveApi(database.pool, { DOCKET_JOBS_PER_HOUR: '10000' });
  return {
    database,
    api,
    mine: await buildOwner(database),
    theirs: await buildOwner(database),
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

async function buildOwner({ pool }: TestDatabase): Promise<Owner> {
  const site = await buildIndexedSite(pool);
  const { organizationId } = site;
  const project = await buildProject(pool, { organizationId });
  const job = await buildJob(pool, project, { prompt: 'the prompt of another organization' });
  return { project, job, admin: site.adminKey, assistant: site.assistantKey, site };
}

/** A key of an organization that expired or was revoked. */
export async function endedKey({ database, mine }: ServiceStage): Promise<string> {
  return (await buildKey(database.pool, { organizationId: mine.project.organizationId, expiresInDays: -1 })).key;
}

/** Whether a response is a refusal with nothing but a sentence. */
export function isRefusal({ status, body }: Answer): boolean {
  return status >= 400 && status < 500 && Object.keys(body ?? {}).join() === 'error';
}
