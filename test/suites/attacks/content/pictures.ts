import { crc32, inflateSync } from 'node:zlib';
import { readTool } from '../../../../activities/tools/files/read-tool.ts';
import { readImage } from '../../../../lib/images/image.ts';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gif, jpeg, pngChunk, pngOf, webp } from '../../../support/sandbox/images.ts';
import type { Attack } from '../stage/attack.ts';

/** Reports whether an image is taken for what its name says, as careless programs do. */
const byName = (name: string) => /\.(?:png|jpe?g|gif|webp|svg)$/.test(name);

const html = Buffer.from('<html><script>fetch("/v1/keys")</script></html>');

/** Content that must not be stored as an image. */
function refused(name: string, bytes: () => Buffer, contained: string, unprotected?: () => boolean): Attack {
  return {
    class: 47,
    name,
    unprotected: async () => unprotected?.() ?? byName('screen.png'),
    product: async () => 'image' in readImage(bytes()),
    contained,
  };
}

/** An image with something behind it, which must not be stored. */
function trailing(name: string, image: Buffer): Attack {
  const both = Buffer.concat([image, html]);
  return {
    class: 47,
    name,
    unprotected: async () => byName('screen.png') && both.includes('<script>'),
    async product() {
      const read = readImage(both);
      return 'image' in read && Buffer.from(read.image.bytes).includes('<script>');
    },
    contained: 'what follows an image is not stored',
  };
}

/** Returns the pixels that a decoder makes room for. */
function roomFor(png: Buffer): number {
  return png.readUInt32BE(16) * png.readUInt32BE(20);
}

const bomb = pngOf({ says: { width: 60_000, height: 60_000 } });
const broken = pngOf();
broken.writeUInt32BE(crc32(Buffer.from('other')), 29);

const frames = Buffer.concat([
  gif.subarray(0, 19),
  ...Array.from({ length: 5_000 }, () => gif.subarray(19, -1)),
  gif.subarray(-1),
]);

async function readAt(tree: string, path: string) {
  const { signal } = new AbortController();
  const shown: Uint8Array[] = [];
  const output = await readTool.run(
    { path },
    {
      root: tree,
      signal,
      async showImage(image) {
        shown.push(image.bytes);
        return null;
      },
    },
  );
  return { output, shown };
}

export const pictureAttacks: Attack[] = [
  refused(
    'a PNG of 3.6 gigapixels in 100 bytes',
    () => bomb,
    'an image has at most 40 megapixels, by its header',
    () => roomFor(bomb) > 1e9,
  ),
  refused(
    'an SVG with a script',
    () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'),
    'images are recognized by their content; SVG is none',
  ),
  refused('HTML called PNG', () => html, 'images are recognized by their content'),
  refused(
    'HTML behind the signature of a PNG',
    () => Buffer.concat([pngOf().subarray(0, 8), html]),
    'an image has to be whole',
  ),
  refused('a PNG whose parts do not have their checksum', () => broken, 'the checksum of each part is compared'),
  refused('a PNG without an end', () => pngOf().subarray(0, -12), 'an image has to be whole'),
  refused('a GIF of 5,000 frames', () => frames, 'an animation has at most 200 frames'),
  refused(
    'a GIF whose frame is larger than its screen',
    () => Buffer.from(gif).fill(0xff, 24, 28),
    'frames are within the screen',
  ),
  trailing('a PNG that is HTML, too', pngOf()),
  trailing('a JPEG that is HTML, too', jpeg),
  trailing('a GIF that is HTML, too', gif),
  trailing('a WebP that is HTML, too', webp),
  {
    class: 47,
    name: 'a text chunk that expands to 50 MB',
    async unprotected() {
      const { deflateSync } = await import('node:zlib');
      return inflateSync(deflateSync(Buffer.alloc(50_000_000))).length === 50_000_000;
    },
    async product() {
      const { deflateSync } = await import('node:zlib');
      const text = Buffer.concat([Buffer.from('note\0\0'), deflateSync(Buffer.alloc(50_000_000))]);
      const png = pngOf();
      const whole = Buffer.concat([png.subarray(0, 33), pngChunk('zTXt', text), png.subarray(33)]);
      const before = process.memoryUsage().rss;
      readImage(whole);
      return process.memoryUsage().rss - before > 40_000_000;
    },
    contained: 'no image is decompressed',
  },
  {
    class: 47,
    name: 'a link to an image outside of the repository',
    async unprotected(scene) {
      const outside = join(scene.directory, 'outside', 'photo.png');
      await writeFile(outside, pngOf());
      await symlink(outside, join(scene.tree, 'photo.png'));
      const { readFile } = await import('node:fs/promises');
      return 'image' in readImage(await readFile(join(scene.tree, 'photo.png')));
    },
    async product(scene) {
      const outside = join(scene.directory, 'outside', 'photo.png');
      await mkdir(scene.tree, { recursive: true });
      await writeFile(outside, pngOf());
      await symlink(outside, join(scene.tree, 'photo.png'));
      return (await readAt(scene.tree, 'photo.png')).shown.length > 0;
    },
    contained: 'links that lead out of the working copy are not followed',
  },
];
