import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';

const program = resolve(import.meta.dirname, '../suites/eval/main.ts');

/** Runs the program of `npm run eval`; it can be killed. */
export function startEval(args: string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DOCKET_HOME: '/nowhere/docket', ...env },
  });
  child.stdin.end();
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([out, error, [code]]) => ({ out, error, code: code as number | null }),
  );
  return { child, ended };
}
