import { gapListSchema, type PublicGap } from '../../../api/sites/gap-schemas.ts';
import type { ProjectRow } from '../../../db/organizations/projects.ts';
import { buildProject } from '../../support/database/build.ts';
import type { TestDatabase } from '../../support/database/database.ts';
import { buildIndexedSite, eventsOf, question, type TestSite } from '../assistant/site.ts';
import type { ServedApi } from './serve.ts';

interface Stage extends TestSite {
  project: ProjectRow;
  ask(text: string, more?: Record<string, unknown>): Promise<{ threadId: string; messageId: string }>;
  admin(path: string, request?: { json?: unknown; method?: string }): ReturnType<ServedApi['ask']>;
  gaps(): Promise<PublicGap[]>;
}

/** Asks a question, as a reader. */
export async function askReader(
  api: ServedApi,
  { site, assistantKey: key }: TestSite,
  text: string,
  more: Record<string, unknown> = {},
): Promise<{ threadId: string; messageId: string }> {
  const json = question(text, more);
  const answer = await api.ask(`/discovery/v2/assistant/${site.domain}/message`, { key, json });
  const events = eventsOf(answer.text);
  const start = events.find(({ type }) => type === 'start');
  const finish = events.find(({ type }) => type === 'finish');
  return {
    messageId: start?.['messageId'],
    threadId: finish?.['messageMetadata']?.threadId ?? finish?.['threadId'],
  };
}

/** Creates a site that readers ask, and a project on its repository. */
export async function stageGaps({ pool }: TestDatabase, api: ServedApi): Promise<Stage> {
  const docs = await buildIndexedSite(pool, { repository: 'https://github.com/acme/docs' });
  const project = await buildProject(pool, { organizationId: docs.organizationId });
  const { domain } = docs.site;
  const admin: Stage['admin'] = (path, request = {}) =>
    api.ask(`/v1/sites/${domain}${path}`, { key: docs.adminKey, ...request });
  return {
    ...docs,
    project,
    admin,
    ask: (text, more) => askReader(api, docs, text, more),
    gaps: async () => gapListSchema.parse((await admin('/gaps')).body).gaps,
  };
}

/** Questions of one gap. */
export const unanswerable = ['How do I paint the gearbox?', 'paint a gearbox', 'How do I paint the gearbox?'];
