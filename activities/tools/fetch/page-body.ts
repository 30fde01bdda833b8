import { MIMEType } from 'node:util';

/** A response as it arrived. */
export interface PageBody {
  url: string;
  /** The Content-Type header; null when there is none. */
  type: string | null;
  bytes: Uint8Array;
}

export type PageText = { text: string } | { problem: string };

const htmlTypes = new Set(['text/html', 'application/xhtml+xml']);
const textTypes =
  /^(?:text\/.+|application\/(?:.+\+)?(?:json|xml|yaml|toml|javascript|ecmascript|x-ndjson|x-sh|x-yaml))$/;
const looksLikeHtml = /^\s*<(?:!doctype\s+html|html)[\s>]/i;
/** Where HTML states its character set. */
const declared = /<meta[^>]{1,200}charset\s*=\s*["']?([\w:-]{1,40})/i;
const byteOrderMarks: [number[], string][] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0xff, 0xfe], 'utf-16le'],
];

/** Returns why a type cannot be read, as the end of a sentence; null when it is text or unknown. */
export function problemWithType(type: string | null): string | null {
  const essence = mimeOf(type)?.essence ?? null;
  if (essence === null || textTypes.test(essence) || htmlTypes.has(essence)) return null;
  return `is ${essence.slice(0, 100)}; only text can be fetched`;
}

/** Reports whether a text is HTML: by its type, or without one by its beginning. */
export function isHtml(type: string | null, text: string): boolean {
  const mime = mimeOf(type);
  return mime === null ? looksLikeHtml.test(text.slice(0, 1_000)) : htmlTypes.has(mime.essence);
}

/** Decodes the text of a response by the character set that it states. */
export function textOfBody({ type, bytes }: Omit<PageBody, 'url'>): PageText {
  const mime = mimeOf(type);
  const charset = byteOrderMarkOf(bytes) ?? mime?.params.get('charset') ?? declaredIn(bytes) ?? 'utf-8';
  const decoder = decoderOf(charset);
  if (decoder === null) {
    return { problem: `has the character set ${JSON.stringify(charset.slice(0, 40))}, which is not supported` };
  }
  const text = decoder.decode(bytes);
  return text.includes('\0') ? { problem: 'is not text' } : { text };
}

function mimeOf(type: string | null): MIMEType | null {
  try {
    return type === null ? null : new MIMEType(type);
  } catch {
    return null;
  }
}

function byteOrderMarkOf(bytes: Uint8Array): string | null {
  return byteOrderMarks.find(([mark]) => mark.every((byte, at) => bytes[at] === byte))?.[1] ?? null;
}

function declaredIn(bytes: Uint8Array): string | null {
  const beginning = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1_024)).toString('latin1');
  return declared.exec(beginning)?.[1] ?? null;
}

function decoderOf(charset: string): TextDecoder | null {
  try {
    return new TextDecoder(charset);
  } catch {
    return null;
  }
}
