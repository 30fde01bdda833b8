import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { build } from 'esbuild';
import { chromium, type Browser } from 'playwright-core';

/** Returns the path of Chromium: `CHROMIUM_PATH`, else the first usual name on PATH. Prints a note if there is none. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | null {
  if (env['CHROMIUM_PATH'] !== undefined && env['CHROMIUM_PATH'] !== '') return env['CHROMIUM_PATH'];
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
  if (found !== undefined) return found;
  console.warn('Tests in a browser are left out: there is no Chromium on PATH, and CHROMIUM_PATH is not set.');
  return null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function launchChromium(executablePath: string): Promise<Browser> {
  // /dev/shm is small in containers, and the sandbox refuses root
  const args = ['--disable-dev-shm-usage', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])];
  return chromium.launch({ executablePath, args, timeout: 120_000 });
}

export interface PageServer extends AsyncDisposable {
  /** Returns the address of the page that runs the script with this name. */
  addressOf(name: string, query: Record<string, string>): string;
}

/** Bundles the scripts of a folder and serves a page for each, all on a separate origin. */
export async function startPageServer(folder: string, names: string[]): Promise<PageServer> {
  const { outputFiles } = await build({
    entryPoints: names.map((name) => join(folder, `${name}.jsx`)),
    bundle: true,
    write: false,
    outdir: '/',
    format: 'esm',
    platform: 'browser',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  });
  const scripts = new Map(outputFiles.map(({ path, text }) => [path, text]));
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://page');
    const script = scripts.get(pathname);
    if (script !== undefined) return response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
    if (!scripts.has(`${pathname}.js`)) return response.writeHead(404).end();
    const html = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><body><script type="module" src="${pathname}.js"></script>`;
    return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    addressOf: (name, query) => `http://127.0.0.1:${port}/${name}?${new URLSearchParams(query).toString()}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
