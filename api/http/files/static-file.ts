import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import type { AppContext } from '../app-context.ts';

/** The content of a file, precompressed where that makes it smaller. */
interface FileContent {
  plain: Buffer;
  brotli: Buffer | null;
  gzip: Buffer | null;
}

export interface StaticFile extends FileContent {
  type: string;
  etag: string;
  cacheControl: string;
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.txt': 'text/plain; charset=utf-8',
};

/** Describes a file for serving; null when files of its type are not served. */
export function staticFileOf(name: string, content: FileContent): StaticFile | null {
  const type = types[extname(name)];
  if (type === undefined) return null;
  return {
    type,
    etag: `"${createHash('sha256').update(content.plain).digest('base64url').slice(0, 22)}"`,
    cacheControl: cacheControlOf(name),
    ...content,
  };
}

function cacheControlOf(name: string): string {
  // these names change with the content
  if (name.startsWith('assets/') && /-[\w-]{8}\.\w+$/.test(name)) return 'public, max-age=31536000, immutable';
  // readers of other sites load it with each page
  if (name === 'widget.js') return 'public, max-age=300, stale-while-revalidate=86400';
  return 'no-cache';
}

/**
 * Sends a file as the client accepts it, or 304 when the client has it. All responses share its bytes, so that many
 * slow clients use no more memory than one.
 */
export function sendStaticFile(ctx: AppContext, file: StaticFile): void {
  ctx.set('Content-Type', file.type);
  ctx.set('Cache-Control', file.cacheControl);
  ctx.set('ETag', file.etag);
  ctx.set('Vary', 'Accept-Encoding');
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  const encoding = ctx.acceptsEncodings('br', 'gzip', 'identity');
  const packed = encoding === 'br' ? file.brotli : encoding === 'gzip' ? file.gzip : null;
  if (packed !== null && typeof encoding === 'string') ctx.set('Content-Encoding', encoding);
  ctx.body = packed ?? file.plain;
}
