import type { SiteRef } from '../../../../db/caller.ts';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jobDirectoryOf } from '../../../../activities/workspaces/job-directory.ts';
import { createSiteIndexStore } from '../../../../db/sites/site-indexes.ts';
import type { Attack } from '../stage/attack.ts';
import { answered } from '../stage/scene.ts';
import { serviceStage } from '../stage/service-stage.ts';

const poisoned: Attack[] = [
  {
    class: 36,
    name: 'an index whose stored bytes were changed',
    async unprotected(scene) {
      const { bytes } = await changedIndex();
      const file = join(scene.directory, 'index.sqlite');
      await writeFile(file, bytes);
      return bytes.length > 0 && (await readFile(file)).equals(bytes);
    },
    async product(scene) {
      const { site, version } = await changedIndex();
      const { database } = await serviceStage();
      const file = join(scene.directory, 'index.sqlite');
      return (await answered(createSiteIndexStore(database.pool).download(site, version, { file }))) !== null;
    },
    contained: 'each block is compared with its hash',
  },
  ...['../../outside', '..', 'a/../../outside', '/etc', 'x\0y', '.'].map((id): Attack => ({
    class: 36,
    name: `an id that is a path (${JSON.stringify(id)})`,
    unprotected: async ({ directory }) =>
      id.includes('\0') ||
      !`${join(directory, 'work/jobs', id)}/`.replace(/\/+$/, '').startsWith(join(directory, 'work/jobs') + '/') ||
      id.startsWith('/'),
    product: async ({ directory }) => {
      const { root } = jobDirectoryOf(join(directory, 'work'), id);
      return !/^[0-9a-f]{64}\.id$/.test(root.slice(join(directory, 'work/jobs/').length));
    },
    contained: 'an id that is no plain name is replaced by its digest',
  })),
];

/** A site whose newest index has a byte of each block flipped. */
async function changedIndex(): Promise<{ site: SiteRef; version: number; bytes: Buffer }> {
  const { database, theirs } = await serviceStage();
  const { site } = theirs.site;
  const stored = await createSiteIndexStore(database.pool).current(site);
  await database.pool.query('update site_index_blocks set data = set_byte(data, 100, (get_byte(data, 100) + 1) % 256)');
  const { rows } = await database.pool.query(
    `select string_agg(data, ''::bytea order by position) as bytes from site_index_layout
     join site_index_blocks using (hash) where site_id = $1 and version = $2`,
    [site.id, stored?.version],
  );
  return { site, version: stored?.version ?? 0, bytes: rows[0].bytes };
}

const workerCopies: Attack[] = [
  {
    class: 38,
    name: 'another organization’s working copy, by a job id that leads there',
    async unprotected({ directory, canary }) {
      await mkdir(join(directory, 'jobs/theirs/tree'), { recursive: true });
      await writeFile(join(directory, 'jobs/theirs/tree/secret.txt'), canary);
      return (await readFile(join(directory, 'jobs', 'mine/../theirs', 'tree/secret.txt'), 'utf8')) === canary;
    },
    async product({ directory, canary }) {
      await mkdir(join(directory, 'jobs/theirs/tree'), { recursive: true });
      await writeFile(join(directory, 'jobs/theirs/tree/secret.txt'), canary);
      const { tree } = jobDirectoryOf(directory, 'mine/../theirs');
      return (await answered(readFile(join(tree, 'secret.txt'), 'utf8'))) === canary;
    },
    contained: 'an id that is no plain name is replaced by its digest',
  },
  {
    class: 38,
    name: 'two ids that fold to one folder',
    unprotected: async () => 'Job-1'.replace(/\W/g, '') === 'Job1'.replace(/\W/g, ''),
    product: async ({ directory }) =>
      jobDirectoryOf(directory, 'job.1').root === jobDirectoryOf(directory, 'job/1').root ||
      jobDirectoryOf(directory, 'job.1').root === jobDirectoryOf(directory, 'job1').root,
    contained: 'ids are digested whole, nothing is left out of them',
  },
];

export const storedAttacks: Attack[] = [...poisoned, ...workerCopies];
