import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { listening } from './listening.ts';

export interface PageOptions {
  direction?: 'ltr' | 'rtl' | undefined;
  /** Whether the security policy of the page allows scripts by their host or by a nonce, or puts the page in a sandbox. */
  policy?: 'host' | 'nonce' | 'sandbox' | undefined;
}

export interface EmbeddingSite extends AsyncDisposable {
  /** The address of its page, on its own origin. */
  pageOf(attributes: Record<string, string>, options?: PageOptions): string;
}

/** A static site that embeds the widget of a Docket, with a security policy that allows nothing else. */
export async function startEmbeddingSite(docket: string): Promise<EmbeddingSite> {
  const policyOf = (script: string, style: string) =>
    [
      "default-src 'none'",
      `script-src ${script}`,
      `connect-src ${docket}`,
      `style-src ${style}`,
      'img-src data:',
      "base-uri 'none'",
      "require-trusted-types-for 'script'",
    ].join('; ');
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://site');
    const direction = searchParams.get('direction') ?? 'ltr';
    searchParams.delete('direction');
    const kind = searchParams.get('policy');
    const nonce = kind === 'nonce' ? randomBytes(16).toString('base64') : null;
    searchParams.delete('policy');
    const attributes = [...searchParams].map(([name, value]) => `${name}="${value.replaceAll('"', '&quot;')}"`);
    if (nonce !== null) attributes.push(`nonce="${nonce}"`);
    const sources = nonce === null ? policyOf(docket, "'self'") : policyOf(`'nonce-${nonce}'`, "'none'");
    const policy = kind === 'sandbox' ? `${sources}; sandbox allow-scripts` : sources;
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy });
    response.end(`<!doctype html>
<html lang="en" dir="${direction}">
<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Lamp</title><link rel="icon" href="data:,">
<main><h1>Lamp</h1><p id="text">Hold the button for three seconds.</p><a href="#text">A link</a></main>
<script src="${docket}/widget.js" ${attributes.join(' ')} defer></script>`);
  });
  const at = await listening(server);
  const { port } = at;
  return {
    pageOf: (attributes, { direction = 'ltr', policy = 'host' } = {}) =>
      `http://127.0.0.1:${port}/guides/scenes?${new URLSearchParams({ ...attributes, direction, policy }).toString()}`,
    [Symbol.asyncDispose]: at[Symbol.asyncDispose],
  };
}
