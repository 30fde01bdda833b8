import { expect, it } from 'vitest';
import { describeImage, maxImageBytes, readImage } from '../../../../lib/images/image.ts';
import { gif, jpeg, pngChunk, pngOf, webp, webpLossless } from '../../../support/sandbox/images.ts';
import { fc, propertyRuns } from '../../../support/properties.ts';

const png = pngOf({ width: 640, height: 480 });
const images: [string, Buffer, string][] = [
  ['a PNG', png, 'PNG, 640 × 480'],
  ['a JPEG', jpeg, 'JPEG, 1 × 1'],
  ['a GIF', gif, 'GIF, 1 × 1'],
  ['a WebP', webp, 'WebP, 1 × 1'],
  ['a lossless WebP', webpLossless, 'WebP, 1 × 1'],
];

it.each(images)('reads %s', (_what, bytes, described) => {
  const read = readImage(bytes);
  expect('image' in read && describeImage(read.image)).toBe(described);
  expect('image' in read && Buffer.from(read.image.bytes).equals(bytes)).toBe(true);
});

it.each(images)('drops what follows %s', (_what, bytes) => {
  const read = readImage(Buffer.concat([bytes, Buffer.from('PK\u0003\u0004<script>alert(1)</script>')]));
  expect('image' in read && Buffer.from(read.image.bytes).equals(bytes)).toBe(true);
});

it.each(images)('refuses %s that ends early, wherever', (_what, bytes) => {
  const ends = bytes.length < 200 ? bytes.keys() : [8, 20, 40, 60, bytes.length - 1];
  for (const end of ends) expect('image' in readImage(bytes.subarray(0, end)), String(end)).toBe(false);
});

it('never throws on a changed image, and reads sizes within the limits', () => {
  const changed = fc
    .tuple(
      fc.constantFrom(...images.map(([, bytes]) => bytes)),
      fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 4 }),
    )
    .map(([bytes, changes]) => {
      const copy = Buffer.from(bytes);
      for (const [at, value] of changes) copy[at % copy.length] = value;
      return copy;
    });
  fc.assert(
    fc.property(changed, (bytes) => {
      const read = readImage(bytes);
      if (!('image' in read)) return;
      expect(read.image.width * read.image.height).toBeLessThanOrEqual(40_000_000);
      expect(read.image.bytes.length).toBeLessThanOrEqual(bytes.length);
    }),
    { numRuns: propertyRuns(5_000) },
  );
});

const huge = { width: 60_000, height: 60_000 };
const wide = Buffer.from(gif);
wide.writeUInt16LE(30_000, 6);
it.each<[string, Buffer, RegExp]>([
  ['a text', Buffer.from('hello'), /no PNG/],
  ['nothing', Buffer.alloc(0), /no PNG/],
  ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'), /no PNG/],
  ['a WAV file', Buffer.from('RIFF\u0000\u0000\u0000\u0000WAVEfmt '), /no PNG/],
  ['HTML behind a signature', Buffer.concat([png.subarray(0, 8), Buffer.from('<html><script>')]), /damaged/],
  ['a PNG of 3.6 gigapixels', pngOf({ says: huge }), /larger than 8000 pixels/],
  ['a PNG of 49 megapixels', pngOf({ says: { width: 7_000, height: 7_000 } }), /40 megapixels/],
  ['a PNG without pixels', pngOf({ says: { width: 0, height: 1 } }), /damaged/],
  ['a PNG with two headers', Buffer.concat([png.subarray(0, 33), png.subarray(8)]), /damaged/],
  ['a PNG without data', Buffer.concat([png.subarray(0, 33), pngChunk('IEND', Buffer.alloc(0))]), /damaged/],
  ['a GIF whose frame is beyond its screen', Buffer.from(gif).fill(0xff, 24, 26), /damaged/],
  ['a GIF that is too wide', wide, /larger/],
  ['too many bytes', Buffer.concat([png, Buffer.alloc(maxImageBytes)]), /more than 3.5 MB/],
])('refuses %s', (_what, bytes, problem) => {
  expect(readImage(bytes)).toMatchObject({ problem: expect.stringMatching(problem) });
});
