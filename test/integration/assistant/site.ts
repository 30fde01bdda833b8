import type { SiteRef } from '../../../db/caller.ts';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Pool } from 'pg';
import { createSiteIndexStore } from '../../../db/sites/site-indexes.ts';
import type { NewSite, SiteRow } from '../../../db/sites/sites.ts';
import { buildIndex } from '../../../search/build/build-index.ts';
import { readPages } from '../../../search/read/read-pages.ts';
import { indexFormat } from '../../../search/query/index-format.ts';
import { buildKey, buildOrganization, buildSite } from '../../support/database/build.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

export const pages: Record<string, string> = {
  'guides/retries.md': `---
title: Retries
language: en
---

# Retries

## Set the retry limit

Set \`retryLimit\` in \`settings.json\` to change how often a request is retried. The default is 3.

## Delay between retries

The delay between two retries is set by \`retryDelayMs\`.
`,
  'guides/install.md': '# Install\n\nRun `npm install widget` to install the widget. See [Retries](/guides/retries).\n',
  'secret.md': '---\nhidden: true\n---\n\n# Secret\n\nThe hidden launch code is 4711.\n',
};

/** Publishes an index of the pages as the site's newest version, also one of an older format. */
export async function publishPages(
  pool: Pool,
  site: SiteRef,
  files: Record<string, string>,
  format = indexFormat,
): Promise<void> {
  const folder = temporaryDirectory();
  const file = join(folder, 'index.sqlite');
  const built = buildIndex(await readPages(Object.entries(files).map(([path, text]) => ({ path, read: () => text }))), {
    file,
  });
  {
    using database = new DatabaseSync(file);
    database.prepare(`update meta set value = ? where key = 'format'`).run(String(format));
  }
  await createSiteIndexStore(pool).publish(site, { ...built, format, file });
}

export interface TestSite {
  site: SiteRow;
  assistantKey: string;
  adminKey: string;
  organizationId: string;
}

/** An organization with an indexed site and a key of each kind. */
export async function buildIndexedSite(pool: Pool, site: Partial<NewSite> = {}): Promise<TestSite> {
  const organization = await buildOrganization(pool);
  const row = await buildSite(pool, { organizationId: organization.id, ...site });
  await publishPages(pool, row, pages);
  const key = async (kind: 'admin' | 'assistant') =>
    (await buildKey(pool, { organizationId: organization.id, kind })).key;
  return {
    site: row,
    organizationId: organization.id,
    assistantKey: await key('assistant'),
    adminKey: await key('admin'),
  };
}

export function question(text: string, more: Record<string, unknown> = {}) {
  return { fp: 'anonymous', messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text }] }], ...more };
}

/** The events of a v2 stream. */
export function eventsOf(text: string): Record<string, any>[] {
  return text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)) as Record<string, any>);
}

export function textOf(stream: string): string {
  return eventsOf(stream)
    .filter(({ type }) => type === 'text-delta')
    .map(({ delta }) => delta as string)
    .join('');
}
