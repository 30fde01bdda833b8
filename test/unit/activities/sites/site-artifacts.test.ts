import type { SiteRef } from '../../../../db/caller.ts';
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { createSiteArtifacts, type SiteArtifacts } from '../../../../activities/sites/site-artifacts.ts';
import type { StoredIndex } from '../../../../db/sites/site-indexes.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

let directory: string;
let artifacts: SiteArtifacts;
let downloads: number[];
beforeEach(async () => {
  directory = temporaryDirectory();
  downloads = [];
  artifacts = makeArtifacts();
});

function makeArtifacts(): SiteArtifacts {
  const download = async (_site: SiteRef, version: number, { file }: { file: string }) => {
    downloads.push(version);
    await writeFile(file, 'stored');
    return { file, blocks: [] };
  };
  return createSiteArtifacts({ directory, indexes: { download } });
}

const stored = (version: number) => ({ version, sizeBytes: 6 }) as StoredIndex;

async function keep(siteId: string, version: number, content: string): Promise<void> {
  await using build = await artifacts.openBuild();
  const file = join(build.folder, 'index.sqlite');
  await writeFile(file, content);
  await artifacts.keep(siteId, version, file);
}

async function fetch(siteId: string, version: number): Promise<string> {
  await using build = await artifacts.openBuild();
  return await readFile(
    await artifacts.fetch({ id: siteId, organizationId: 'org_1' }, stored(version), build.folder),
    'utf8',
  );
}

it('uses the artifact kept from a build, and fetches any other', async () => {
  await keep('site_a', 3, 'kept!!');
  expect(await fetch('site_a', 3)).toBe('kept!!');
  expect(await fetch('site_a', 4)).toBe('stored');
  expect(await fetch('site_b', 3)).toBe('stored');
  expect(downloads).toEqual([4, 3]);
});

it('fetches the artifact if the kept one is incomplete', async () => {
  await keep('site_a', 3, 'half');
  expect(await fetch('site_a', 3)).toBe('stored');
});

it('keeps one version per site, and nothing of a build', async () => {
  await keep('site_a', 3, 'kept!!');
  await keep('site_b', 1, 'other!');
  await keep('site_a', 4, 'newer!');
  expect((await readdir(directory)).sort()).toEqual(['site_a-4.sqlite', 'site_b-1.sqlite']);
  await artifacts.forget('site_a');
  expect(await readdir(directory)).toEqual(['site_b-1.sqlite']);
});

it('is not disturbed by another process that removes the kept artifact', async () => {
  await keep('site_a', 3, 'kept!!');
  await using build = await artifacts.openBuild();
  const file = await artifacts.fetch({ id: 'site_a', organizationId: 'org_1' }, stored(3), build.folder);
  await makeArtifacts().forget('site_a');
  expect(await readFile(file, 'utf8')).toBe('kept!!');
});

it('removes what killed builds left and what was unused for days', async () => {
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  for (const [name, hours] of [
    ['build-old', 4],
    ['build-new', 1],
  ] as const) {
    await mkdir(join(directory, name));
    await writeFile(join(directory, name, 'index.sqlite'), 'x');
    await utimes(join(directory, name), hoursAgo(hours), hoursAgo(hours));
  }
  for (const [name, hours] of [
    ['site_a-1.sqlite', 80],
    ['site_b-1.sqlite', 70],
  ] as const) {
    await writeFile(join(directory, name), 'x');
    await utimes(join(directory, name), hoursAgo(hours), hoursAgo(hours));
  }
  await using build = await makeArtifacts().openBuild();
  expect((await readdir(directory)).map((name) => join(directory, name)).sort()).toEqual(
    [build.folder, join(directory, 'build-new'), join(directory, 'site_b-1.sqlite')].sort(),
  );
});
