import { crc32 } from 'node:zlib';

export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
type ImageType = (typeof imageTypes)[number];

/** An image with a complete structure. */
export interface Image {
  mediaType: ImageType;
  width: number;
  height: number;
  /** The bytes of the image, without any that follow it. */
  bytes: Uint8Array;
}

/** `problem` is the end of a sentence. `kind` is null for other types of files. */
export type ReadImage = { image: Image } | { kind: ImageType | null; problem: string };

/** In bytes: providers accept 5 MB in base64. */
export const maxImageBytes = 3.5 * 1024 * 1024;
/** Dimensions that providers accept and browsers show without effort. */
const maxSidePixels = 8_000;
const maxPixels = 40_000_000;
/** Most frames of an animation; models see the first. */
const maxFrames = 200;

interface Measured {
  width: number;
  height: number;
  /** Offset at which the image ends. */
  end: number;
}

const signatures: [ImageType, string, (bytes: Buffer) => Measured | null][] = [
  ['image/png', '89504e470d0a1a0a', readPng],
  ['image/jpeg', 'ffd8ff', readJpeg],
  ['image/gif', '47494638', readGif],
  ['image/webp', '52494646', readWebp],
];

/**
 * Reads the structure of an image, recognized by its content. Nothing is decompressed, so the time depends on the size
 * of the file alone; the limits apply to the dimensions that it declares.
 */
export function readImage(content: Uint8Array): ReadImage {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const found = signatures.find(([, signature]) => bytes.toString('hex', 0, signature.length / 2) === signature);
  const isOther = found?.[0] === 'image/webp' && bytes.toString('latin1', 8, 12) !== 'WEBP';
  if (found === undefined || isOther) return { kind: null, problem: 'is no PNG, JPEG, GIF or WebP image' };
  const [kind, , read] = found;
  if (bytes.length > maxImageBytes) return { kind, problem: `has more than ${maxImageBytes / 1024 / 1024} MB` };
  const measured = measure(bytes, read);
  if (measured === null || measured.width < 1 || measured.height < 1) return { kind, problem: 'is damaged' };
  const { width, height, end } = measured;
  if (width > maxSidePixels || height > maxSidePixels || width * height > maxPixels) {
    return { kind, problem: `is larger than ${maxSidePixels} pixels on a side or ${maxPixels / 1e6} megapixels` };
  }
  return { image: { mediaType: kind, width, height, bytes: bytes.subarray(0, end) } };
}

/** Returns the common name of an image type. */
export function describeImage({ mediaType, width, height }: Pick<Image, 'mediaType' | 'width' | 'height'>): string {
  const name = mediaType === 'image/webp' ? 'WebP' : mediaType.slice('image/'.length).toUpperCase();
  return `${name}, ${width} × ${height}`;
}

function measure(bytes: Buffer, read: (bytes: Buffer) => Measured | null): Measured | null {
  try {
    return read(bytes);
  } catch (error) {
    // the image ends within one of its parts
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function readPng(bytes: Buffer): Measured | null {
  let size: { width: number; height: number } | null = null;
  let hasData = false;
  for (let at = 8; ;) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    const end = at + 12 + length;
    if (bytes.readUInt32BE(end - 4) !== crc32(bytes.subarray(at + 4, end - 4))) return null;
    if ((type === 'IHDR') !== (size === null)) return null;
    if (size === null) {
      if (length !== 13) return null;
      size = { width: bytes.readUInt32BE(at + 8), height: bytes.readUInt32BE(at + 12) };
    }
    hasData ||= type === 'IDAT';
    if (type === 'IEND') return hasData ? { ...size, end } : null;
    at = end;
  }
}

/** Markers of frames: 0xC0 to 0xCF, except for those of tables and extensions. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
const isRestart = (marker: number) => marker >= 0xd0 && marker <= 0xd7;

function readJpeg(bytes: Buffer): Measured | null {
  let size: { width: number; height: number } | null = null;
  let hasData = false;
  for (let at = 2; ;) {
    if (bytes.readUInt8(at) !== 0xff) return null;
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === 0xd9) return size !== null && hasData ? { ...size, end: at + 2 } : null;
    const length = bytes.readUInt16BE(at + 2);
    if (length < 2) return null;
    if (isFrame(marker)) {
      if (size !== null) return null;
      size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    }
    at += 2 + length;
    if (marker !== 0xda) continue;
    hasData = true;
    // compressed data, up to the next marker
    for (at = nextMark(bytes, at); bytes.readUInt8(at + 1) === 0 || isRestart(bytes.readUInt8(at + 1));)
      at = nextMark(bytes, at + 2);
  }
}

function nextMark(bytes: Buffer, from: number): number {
  const at = bytes.indexOf(0xff, from);
  if (at === -1) throw new RangeError('The image has no end.');
  return at;
}

function readGif(bytes: Buffer): Measured | null {
  const size = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  let frames = 0;
  for (let at = 13 + tableBytes(bytes.readUInt8(10)); ;) {
    const block = bytes.readUInt8(at);
    if (block === 0x3b) return frames > 0 ? { ...size, end: at + 1 } : null;
    if (block === 0x2c) {
      frames += 1;
      const right = bytes.readUInt16LE(at + 1) + bytes.readUInt16LE(at + 5);
      const bottom = bytes.readUInt16LE(at + 3) + bytes.readUInt16LE(at + 7);
      if (frames > maxFrames || right > size.width || bottom > size.height) return null;
      at += 11 + tableBytes(bytes.readUInt8(at + 9));
    } else if (block === 0x21) at += 2;
    else return null;
    for (let length = bytes.readUInt8(at); ; length = bytes.readUInt8(at)) {
      at += 1 + length;
      if (length === 0) break;
    }
  }
}

/** Returns the size of a color table from its flags. */
function tableBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

function readWebp(bytes: Buffer): Measured | null {
  const end = 8 + bytes.readUInt32LE(4);
  if (end > bytes.length || end < 30) return null;
  const first = bytes.toString('latin1', 12, 16);
  const data = 20;
  if (first === 'VP8 ') {
    if (bytes.readUIntBE(data + 3, 3) !== 0x9d012a) return null;
    return { width: bytes.readUInt16LE(data + 6) & 0x3fff, height: bytes.readUInt16LE(data + 8) & 0x3fff, end };
  }
  if (first === 'VP8L') {
    if (bytes.readUInt8(data) !== 0x2f) return null;
    const bits = bytes.readUInt32LE(data + 1);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1, end };
  }
  if (first !== 'VP8X') return null;
  return { width: bytes.readUIntLE(data + 4, 3) + 1, height: bytes.readUIntLE(data + 7, 3) + 1, end };
}
