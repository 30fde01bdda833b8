import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openImages, type ImagesOptions } from '../../../activities/images/images.ts';
import { architectureOfImages, blobsOf } from '../../support/sandbox/oci-image.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const live = new AbortController().signal;

it('the image of a tag is pulled again after a day, and kept if the registry is away', async () => {
  let nowMs = 1e12;
  let pulls = 0;
  let isAway = false;
  const pull: ImagesOptions['pull'] = async ({ folder }) => {
    pulls += 1;
    if (isAway) throw new Error('not reached');
    const { blobs, manifest } = blobsOf({
      layers: [[{ path: 'bin/sh', content: '#!', mode: 0o755 }, { path: `pull-${pulls}` }]],
    });
    await mkdir(join(folder, 'blobs/sha256'), { recursive: true });
    for (const [digest, data] of blobs) await writeFile(join(folder, `blobs/${digest.replace(':', '/')}`), data);
    await writeFile(join(folder, 'index.json'), JSON.stringify({ manifests: [{ digest: manifest.digest }] }));
  };
  const directory = temporaryDirectory();
  const images = await openImages({
    directory,
    allowed: [{ kind: 'prefix', prefix: 'docker.io/' }],
    archives: null,
    pull,
    architecture: architectureOfImages,
    limits: { bytes: 10e6, entries: 1_000 },
    totalBytes: 100e6,
    now: () => nowMs,
  });
  const first = await images.provide('tool:1', live);
  expect(await images.provide('tool:1', live)).toEqual(first);
  nowMs += 25 * 60 * 60_000;
  // the job that notices does not wait for it
  expect(await images.provide('tool:1', live)).toEqual(first);
  await expect.poll(async () => (await images.provide('tool:1', live)).id).not.toBe(first.id);
  const second = await images.provide('tool:1', live);
  const pinned = `tool@sha256:${createHash('sha256').update('x').digest('hex')}`;
  await images.provide(pinned, live);
  nowMs += 25 * 60 * 60_000;
  await images.provide(pinned, live);
  expect(pulls).toBe(3);
  isAway = true;
  nowMs += 25 * 60 * 60_000;
  expect(await images.provide('tool:1', live)).toEqual(second);
  await expect.poll(() => pulls).toBe(4);
  expect(await images.provide('tool:1', live)).toEqual(second);

  // a lock that cannot be opened, as with too many open files, ends no worker
  nowMs += 25 * 60 * 60_000;
  const locks = join(directory, 'locks');
  for (const name of await readdir(locks)) {
    await rm(join(locks, name));
    await mkdir(join(locks, name));
  }
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  onTestFinished(() => void process.off('unhandledRejection', unhandled));
  expect(await images.provide('tool:1', live)).toEqual(second);
  await nextTurn();
  expect(unhandled).not.toHaveBeenCalled();
});
