import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { SandboxRoot } from '../sandbox/sandbox-root.ts';

const execute = promisify(execFile);

/** Copies what commands see of an image. It shares no data with the image: installers write into files. */
export async function copyRoot({ directory, entries }: SandboxRoot, copy: string, signal: AbortSignal): Promise<void> {
  await mkdir(copy, { mode: 0o755 });
  const paths = entries.map(({ path }) => join(directory, path));
  await run(['cp', '-a', '--reflink=auto', '--', ...paths, copy], signal);
}

/**
 * Leaves of a root what unpacking an image would: files, folders and links that everyone may read and only this process
 * may change. Nothing may run in it any more.
 */
export async function sealRoot(root: string, signal: AbortSignal): Promise<void> {
  const kept = ['-type', 'f', '-o', '-type', 'd', '-o', '-type', 'l'];
  await run(['find', root, '!', '(', ...kept, ')', '-delete'], signal);
  await run(['chown', '-hR', `${process.getuid?.()}:${process.getgid?.()}`, root], signal);
  await run(['chmod', '-R', 'u=rwX,go=rX,a-st', root], signal);
}

async function run([file = '', ...args]: string[], signal: AbortSignal): Promise<void> {
  await execute(file, args, { signal, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } });
}
