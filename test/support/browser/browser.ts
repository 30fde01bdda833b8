import { accessSync, constants } from 'node:fs';
import { createServer } from 'node:http';
import { delimiter, join } from 'node:path';
import { build } from 'esbuild';
import { chromium, firefox, type Browser } from 'playwright-core';
import { listening } from '../servers/listening.ts';

/** The browsers that tests drive. `prefers-color-scheme` is a setting of all Firefox, and one of a context in Chromium. */
const browsers = {
  Chromium: {
    variable: 'CHROMIUM_PATH',
    commands: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    launch(executablePath: string): Promise<Browser> {
      // /dev/shm is small in containers, and the sandbox refuses root
      const args = ['--disable-dev-shm-usage', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])];
      return chromium.launch({ executablePath, args, timeout: 120_000 });
    },
  },
  Firefox: {
    variable: 'FIREFOX_PATH',
    commands: ['firefox-esr', 'firefox'],
    launch(executablePath: string, colorScheme: 'light' | 'dark'): Promise<Browser> {
      const firefoxUserPrefs = {
        'layout.css.prefers-color-scheme.content-override': colorScheme === 'dark' ? 0 : 1,
        'ui.prefersReducedMotion': 1,
      };
      // this channel speaks WebDriver BiDi, which released versions understand; the other one needs a patched Firefox
      return firefox.launch({ channel: 'moz-firefox', executablePath, firefoxUserPrefs, timeout: 120_000 });
    },
  },
};

export type BrowserName = keyof typeof browsers;

/** Returns the path of a browser: its variable, else the first usual name on PATH. Prints a note if there is none. */
export function findBrowser(name: BrowserName, env: NodeJS.ProcessEnv = process.env): string | null {
  const { variable, commands } = browsers[name];
  const set = env[variable];
  if (set !== undefined && set !== '') return set;
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = commands.flatMap((command) => folders.map((folder) => join(folder, command))).find(isExecutable);
  if (found !== undefined) return found;
  console.warn(`Tests in ${name} are left out: there is no ${name} on PATH, and ${variable} is not set.`);
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

export function launchBrowser(
  name: BrowserName,
  executablePath: string,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<Browser> {
  return browsers[name].launch(executablePath, colorScheme);
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
  const files = new Map(outputFiles.map(({ path, text }) => [path, text]));
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://page');
    const file = files.get(pathname);
    const type = pathname.endsWith('.css') ? 'text/css' : 'text/javascript';
    if (file !== undefined) return response.writeHead(200, { 'content-type': type }).end(file);
    if (!files.has(`${pathname}.js`)) return response.writeHead(404).end();
    const styles = files.has(`${pathname}.css`) ? `<link rel="stylesheet" href="${pathname}.css">` : '';
    const html = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">${styles}<body><script type="module" src="${pathname}.js"></script>`;
    return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html);
  });
  const at = await listening(server);
  const { port } = at;
  return {
    addressOf: (name, query) => `http://127.0.0.1:${port}/${name}?${new URLSearchParams(query).toString()}`,
    [Symbol.asyncDispose]: at[Symbol.asyncDispose],
  };
}
