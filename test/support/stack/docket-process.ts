import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';

const program = resolve(import.meta.dirname, '../../../cli/docket.ts');

/** Runs the program of `npm run docket` with only these variables, so by default without a database, and `input` on stdin. */
export async function runDocket(args: string[], env: NodeJS.ProcessEnv = {}, input = '') {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DOCKET_HOME: '/nowhere/docket', ...env },
  });
  child.stdin.on('error', () => {}); // it may exit without reading
  child.stdin.end(input);
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { out, error, code: code as number | null };
}
