import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const checkout = resolve(import.meta.dirname, '..');

/**
 * Builds the dashboard unless the build is up to date. A failure is logged and does not stop the start, because the API
 * works without the dashboard. An installation without the dashboard's sources or build tools uses the build it was
 * shipped with.
 */
export async function buildDashboard({ log, signal }: { log(line: string): void; signal: AbortSignal }): Promise<void> {
  const hasTools = existsSync(join(checkout, 'node_modules/vite'));
  if (!hasTools || !existsSync(join(checkout, 'dashboard/build.ts'))) return;
  const child = spawn(process.execPath, ['dashboard/build.ts'], {
    cwd: checkout,
    signal,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => void lines.push(text));
  const [code] = await once(child, 'close').catch(() => [null]);
  if (code === 0 || signal.aborted) return;
  const reason =
    lines
      .join('')
      .trim()
      .split('\n')
      .find((line) => line.trim() !== '') ?? 'it ended early';
  log(`The dashboard could not be built (${reason}); "npm run build" says more. Everything else works.`);
}
