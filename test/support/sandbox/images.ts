import { crc32, deflateSync } from 'node:zlib';

/** Returns a chunk of a PNG. */
export function pngChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(12 + data.length);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, 'latin1');
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}

const pngSignature = Buffer.from('89504e470d0a1a0a', 'hex');

interface PngOptions {
  width?: number;
  height?: number;
  /** The size in its header; the real one by default. */
  says?: { width: number; height: number };
  shade?: number;
}

/** Returns a gray PNG. */
export function pngOf({ width = 2, height = 2, says, shade = 128 }: PngOptions = {}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(says?.width ?? width, 0);
  header.writeUInt32BE(says?.height ?? height, 4);
  header.writeUInt8(8, 8);
  const row = Buffer.concat([Buffer.alloc(1), Buffer.alloc(width, shade)]);
  const data = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  return Buffer.concat([
    pngSignature,
    pngChunk('IHDR', header),
    pngChunk('IDAT', data),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The smallest images of the other types, of one pixel. */
export const jpeg = Buffer.from(
  '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AVN//2Q==',
  'base64',
);
export const gif = Buffer.from('R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=', 'base64');
export const webp = Buffer.from('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA', 'base64');
export const webpLossless = Buffer.from('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==', 'base64');

/** Returns an image as a part of the AI SDK. */
export const filePart = (bytes: Uint8Array, filename = 'screen.png', mediaType = 'image/png') => ({
  type: 'file' as const,
  mediaType,
  filename,
  url: `data:${mediaType};base64,${Buffer.from(bytes).toString('base64')}`,
});
