import type { Pool } from 'pg';
import { publishPages } from '../../../integration/assistant/site.ts';
import { buildKey, buildOrganization, buildSite, testPepper } from '../../../support/database/build.ts';
import { generateSite } from './generate-pages.ts';

/** The API's settings for the database, with limits that no bench reaches. */
export function apiEnvironment(databaseUrl: string): NodeJS.ProcessEnv {
  return {
    DATABASE_URL: databaseUrl,
    DOCKET_KEY_PEPPER: testPepper,
    DOCKET_JOBS_PER_HOUR: '1000000000',
    DOCKET_ORGANIZATION_JOBS_PER_HOUR: '1000000000',
    DOCKET_MAX_ACTIVE_JOBS: '1000000000',
    DOCKET_ASSISTANT_PER_HOUR: '1000000000',
    DOCKET_ASSISTANT_PER_IP_PER_DAY: '1000000000',
    LOG_LEVEL: 'info',
    PORT: '0',
  };
}

/** A site with an index of generated pages, and a key of its readers. */
export async function seedSite(pool: Pool, pages: number): Promise<{ domain: string; key: string }> {
  const organization = await buildOrganization(pool);
  const site = await buildSite(pool, { organizationId: organization.id });
  const files = generateSite(pages, 0).files.map((file) => [file.path, file.read()]);
  await publishPages(pool, site, { ...Object.fromEntries(files), 'guide.md': '# Guide\n\nA guide to retries.\n' });
  const { key } = await buildKey(pool, { organizationId: organization.id, kind: 'assistant' });
  return { domain: site.domain, key };
}
