import { mkdir, readdir, readFile, readlink, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { openImages, type Images, type ImagesOptions } from '../../../activities/images/images.ts';
import type { SandboxRoot } from '../../../activities/sandbox/sandbox-root.ts';
import {
  architectureOfImages,
  tarOf,
  writeImage,
  type LayerEntry,
  type TestImage,
} from '../../support/sandbox/oci-image.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const live = new AbortController().signal;
const shell: LayerEntry = { path: 'bin/sh', content: '#!', mode: 0o755 };
let directory: string;

beforeEach(async () => {
  directory = temporaryDirectory();
  await mkdir(join(directory, 'archives'));
});

function open(options: Partial<ImagesOptions> = {}): Promise<Images> {
  return openImages({
    directory: join(directory, 'work'),
    allowed: [{ kind: 'prefix', prefix: 'oci-archive:' }],
    archives: join(directory, 'archives'),
    pull: null,
    architecture: architectureOfImages,
    limits: { bytes: 10e6, entries: 1_000 },
    totalBytes: 100e6,
    ...options,
  });
}

async function archive(image: TestImage, name = 'image.tar'): Promise<string> {
  await writeImage(join(directory, 'archives', name), image);
  return `oci-archive:${name}`;
}

async function unpacked(image: TestImage, options: Partial<ImagesOptions> = {}): Promise<SandboxRoot> {
  return (await open(options)).provide(await archive(image), live);
}

const layered = (...layers: LayerEntry[][]) => unpacked({ layers: [[shell], ...layers] });

/** The files of an image beyond those that every image of these tests has. */
async function treeOf({ directory }: SandboxRoot): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
  return paths.filter((path) => !/^(?:bin|etc)\b/.test(path)).toSorted();
}

describe('the layers of an image', () => {
  it('become its file system, with the variables and the shell', async () => {
    const image = await unpacked({
      layers: [
        [shell, { path: 'usr/', type: 'Directory', mode: 0o700 }, { path: 'usr/tool', content: 'one', mode: 0o750 }],
        [
          { path: 'usr/tool', content: 'two', mode: 0o4711 },
          { path: 'usr/same', type: 'Link', linkpath: 'usr/tool' },
          { path: 'usr/link', type: 'SymbolicLink', linkpath: '/etc/passwd' },
        ],
      ],
      variables: ['PATH=/usr/bin', 'EMPTY=', 'no equals sign', 'A B=1'],
    });
    expect(image.variables).toEqual({ PATH: '/usr/bin', EMPTY: '' });
    expect(image.shell).toBe('/bin/sh');
    expect(image.entries.map(({ path }) => path).toSorted()).toEqual(['/bin', '/etc', '/usr']);
    expect(await readFile(join(image.directory, 'usr/same'), 'utf8')).toBe('two');
    expect(await readlink(join(image.directory, 'usr/link'))).toBe('/etc/passwd');
    const { mode, mtimeMs } = await stat(join(image.directory, 'usr/tool'));
    expect([mode & 0o7777, mtimeMs]).toEqual([0o755, 1e12]);
    expect((await stat(join(image.directory, 'usr'))).mode & 0o777).toBe(0o755);
  });

  it('remove what a higher layer hides, and nothing of the same layer', async () => {
    const lower = ['a/one', 'a/two', 'b/one', 'b/deep/two', 'c'].map((path) => ({ path, content: 'x' }));
    const image = await layered(lower, [
      { path: 'a/.wh.one' },
      { path: 'b/deep/new', content: 'x' },
      { path: 'b/.wh..wh..opq' },
      { path: '.wh.c' },
    ]);
    expect(await treeOf(image)).toEqual(['a', 'a/two', 'b', 'b/deep', 'b/deep/new']);
  });

  it('replace a folder by a file, and a link by a folder', async () => {
    const image = await layered(
      [
        { path: 'a/one', content: 'x' },
        { path: 'b', type: 'SymbolicLink', linkpath: 'a' },
      ],
      [
        { path: 'a', content: 'file' },
        { path: 'b/', type: 'Directory' },
        { path: 'b/new', content: 'x' },
      ],
    );
    expect(await treeOf(image)).toEqual(['a', 'b', 'b/new']);
  });

  it('leave out devices and pipes', async () => {
    const image = await layered([
      { path: 'device', type: 'CharacterDevice', devmaj: 1, devmin: 3 },
      { path: 'pipe', type: 'FIFO' },
      { path: 'disk', type: 'BlockDevice', devmaj: 8, devmin: 0 },
    ]);
    expect(await treeOf(image)).toEqual([]);
  });

  it('are accepted if one is empty', async () => {
    expect(await treeOf(await layered([]))).toEqual([]);
  });
});

describe('a hostile image', () => {
  const outside = () => readdir(join(directory, 'outside'));
  beforeEach(async () => {
    await mkdir(join(directory, 'outside'));
    await writeFile(join(directory, 'outside/file'), 'whole');
  });

  it.each([
    ['a path that leads out', [{ path: '../../../../outside/new', content: 'x' }]],
    ['a removal that leads out', [{ path: '../../../../outside/.wh.file' }]],
    ['a removal of the folder above', [{ path: 'a/.wh...' }]],
    ['a removal of its own folder', [{ path: 'a/.wh..' }]],
    ['a removal without a name', [{ path: 'a/.wh.' }]],
    ['a hard link to a file outside', [{ path: 'a', type: 'Link', linkpath: '../../../../outside/file' }]],
    ['a hard link to a file that is not there', [{ path: 'a', type: 'Link', linkpath: '/etc/shadow' }]],
    [
      'links in a circle',
      [
        { path: 'a', type: 'SymbolicLink', linkpath: 'b' },
        { path: 'b', type: 'SymbolicLink', linkpath: 'a' },
        { path: 'a/x', content: 'x' },
      ],
    ],
    ['a deep path', [{ path: 'a/'.repeat(200), type: 'Directory' }]],
  ] satisfies [string, LayerEntry[]][])('is refused for %s', async (_name, entries) => {
    await expect(layered(entries)).rejects.toThrow(/^The image (?:has|removes) .*\. Use another image\.$/);
    expect(await outside()).toEqual(['file']);
    expect(await readFile(join(directory, 'outside/file'), 'utf8')).toBe('whole');
    expect(await readdir(join(directory, 'work/images/unfinished'))).toEqual([]);
  });

  it('writes through its links only within itself', async () => {
    const target = join(directory, 'outside');
    const image = await layered(
      [
        { path: 'absolute', type: 'SymbolicLink', linkpath: target },
        { path: 'relative', type: 'SymbolicLink', linkpath: '../../../../outside' },
        { path: 'name', type: 'SymbolicLink', linkpath: `${target}/file` },
      ],
      [
        { path: 'absolute/new', content: 'x' },
        { path: 'relative/.wh.file' },
        { path: 'relative/new', content: 'x' },
        { path: 'name', content: 'x' },
        { path: 'absolute/.wh..wh..opq' },
      ],
    );
    expect(await outside()).toEqual(['file']);
    expect(await readFile(join(directory, 'outside/file'), 'utf8')).toBe('whole');
    expect(await readFile(join(image.directory, 'outside/new'), 'utf8')).toBe('x');
    expect(await readFile(join(image.directory, 'name'), 'utf8')).toBe('x');
  });

  it('cannot choose the files that the sandbox puts over its own', async () => {
    const file = join(directory, 'outside/file');
    const image = await layered([
      { path: 'etc/passwd', type: 'SymbolicLink', linkpath: file },
      { path: 'etc/hosts/', type: 'Directory' },
    ]);
    expect((await stat(join(image.directory, 'etc/passwd'))).size).toBe(0);
    expect((await stat(join(image.directory, 'etc/hosts'))).isFile()).toBe(true);
    expect(await readFile(file, 'utf8')).toBe('whole');
  });

  it('is refused above the limits of size and files, which count what is decompressed', async () => {
    const zeros = Buffer.alloc(11e6);
    await expect(layered([{ path: 'zeros', content: zeros }])).rejects.toThrow('larger than DOCKET_IMAGE_MB');
    const many = Array.from({ length: 1_001 }, (_, index) => ({ path: `${index}`, content: '' }));
    await expect(layered(many)).rejects.toThrow('more than 1000 files');
    const inner = gzipSync(tarOf([{ path: 'zeros', content: zeros }]));
    await expect(unpacked({ layers: [inner] })).rejects.toThrow('compressed twice');
  });

  it('is refused if a layer is another one, or its manifest is damaged', async () => {
    const wrong = `sha256:${'0'.repeat(64)}`;
    await expect(unpacked({ layers: [[shell]], diffIds: [wrong] })).rejects.toThrow('not the one that the image names');
    await expect(unpacked({ layers: [[shell]], diffIds: [] })).rejects.toThrow('manifest of the image is damaged');
    await expect(unpacked({ layers: [[shell]], architecture: 's390x' })).rejects.toThrow('is for linux/s390x');
    await expect(unpacked({ layers: [[{ path: 'a' }]] })).rejects.toThrow('no /bin/sh');
    await writeFile(join(directory, 'archives/text.tar'), 'not an archive');
    await expect((await open()).provide('oci-archive:text.tar', live)).rejects.toThrow('holds no image');
  });
});

describe('the images of a worker', () => {
  it('are only those that the operator allows', async () => {
    const images = await open({ allowed: [{ kind: 'repository', text: 'docker.io/library/python' }] });
    const refused = 'The operator does not allow the image';
    await expect(images.provide('oci-archive:image.tar', live)).rejects.toThrow(refused);
    await expect(images.provide('ghcr.io/library/python', live)).rejects.toThrow(refused);
    await expect(images.provide('--root', live)).rejects.toThrow('"--root" is not the name of an image.');
    await expect(images.provide('python', live)).rejects.toThrow('install skopeo, podman or docker');
  });

  it('are read from one folder, and a link in it is the operator’s', async () => {
    const images = await open();
    await expect(images.provide('oci-archive:../secret.tar', live)).rejects.toThrow('is not the name of an image');
    await expect(images.provide('oci-archive:gone.tar', live)).rejects.toThrow('is not in DOCKET_IMAGE_DIRECTORY');
    await archive({ layers: [[shell]] });
    await symlink('image.tar', join(directory, 'archives/latest.tar'));
    expect((await images.provide('oci-archive:latest.tar', live)).shell).toBe('/bin/sh');
  });

  it('are unpacked once, and again when the archive changes', async () => {
    const name = await archive({ layers: [[shell]] });
    const images = await open();
    const [one, same] = await Promise.all([images.provide(name, live), images.provide(name, live)]);
    expect(same).toEqual(one);
    expect(await (await open()).provide(name, live)).toEqual(one);
    await archive({ layers: [[shell, { path: 'more', content: 'x' }]] });
    expect((await images.provide(name, live)).directory).not.toBe(one.directory);
  });

  it('get the files that the sandbox mounts over, if an earlier version unpacked them', async () => {
    const name = await archive({ layers: [[shell]] });
    const images = await open();
    const { directory: root } = await images.provide(name, live);
    await rm(join(root, 'etc/hostname'));
    await images.provide(name, live);
    expect(await readFile(join(root, 'etc/hostname'), 'utf8')).toBe('');
  });

  it('give way to others when they were not used for long, but not while a command may run in them', async () => {
    const content = Buffer.alloc(3e6, 'x');
    let nowMs = 1e12;
    const images = await open({ totalBytes: 7e6, now: () => nowMs });
    const roots: SandboxRoot[] = [];
    for (const name of ['a', 'b']) {
      roots.push(
        await images.provide(await archive({ layers: [[shell, { path: name, content }]] }, `${name}.tar`), live),
      );
      nowMs += 60_000;
    }
    const third = await archive({ layers: [[shell, { path: 'c', content }]] }, 'c.tar');
    await expect(images.provide(third, live)).rejects.toThrow('raise DOCKET_IMAGES_GB');
    nowMs += 3 * 60 * 60_000;
    await images.provide('oci-archive:a.tar', live);
    await images.provide(third, live);
    const [a, b] = await Promise.all(roots.map((root) => stat(root.directory).catch(() => null)));
    expect([a === null, b === null]).toEqual([false, true]);
  });

  it('are left unfinished by a killed worker, and removed by the next one', async () => {
    const unfinished = join(directory, 'work/images/unfinished');
    await mkdir(join(unfinished, 'left/layout'), { recursive: true });
    await open();
    expect(await readdir(unfinished)).toEqual([]);
  });

  it.each(['image.json', 'name'])('are unpacked again when their %s was cut off', async (cut) => {
    const name = await archive({ layers: [[shell]] });
    const { id, directory: root } = await (await open()).provide(name, live);
    const folder = join(directory, 'work/images');
    const named = (await readdir(folder)).find((file) => file.endsWith('.json'))!;
    await truncate(cut === 'name' ? join(folder, named) : join(folder, id, cut), 10);
    await writeFile(join(root, 'bin/sh'), 'cut off, too');
    const other = await archive({ layers: [[shell, { path: 'more', content: 'x' }]] }, 'other.tar');
    expect((await (await open()).provide(other, live)).id).not.toBe(id);
    const again = await (await open()).provide(name, live);
    expect(again.id).toBe(id);
    if (cut === 'image.json') expect(await readFile(join(root, 'bin/sh'), 'utf8')).toBe('#!');
    expect(await readdir(join(folder, 'unfinished'))).toEqual([]);
  });

  it('stop being unpacked when the job ends', async () => {
    const name = await archive({ layers: [[shell]] });
    await expect((await open()).provide(name, AbortSignal.abort())).rejects.toThrow('aborted');
    expect((await (await open()).provide(name, live)).shell).toBe('/bin/sh');
  });
});
