import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineName } from '../../../activities/sandbox/engine.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

/** Engine of the sandboxes in tests: with `DOCKET_TEST_ENGINE=podman` they are containers. */
export const testEngine: EngineName = process.env['DOCKET_TEST_ENGINE'] === 'podman' ? 'podman' : 'bubblewrap';

/** Returns the pattern of the user id that a command sees. A container of root has no user namespace. */
export function seenUid(account: 'owner' | 'other'): string {
  const isOfMachine = testEngine === 'podman' && account === 'owner' && process.getuid?.() === 0;
  return isOfMachine ? '(?:19\\d{8}|[23]\\d{4})' : '1000';
}

/**
 * Returns the words before those that start a process of an account without a name: it gets one, and subordinate user
 * ids, in files that only this process sees.
 */
export function withSubordinateIds(uid: number): string[] {
  const files = ['passwd', 'subuid', 'subgid'].map((name) => `/etc/${name}`);
  const directory = temporaryDirectory();
  const lines = [`tester:x:${uid}:${uid}::/:/bin/sh`, 'tester:300000:65536', 'tester:300000:65536'];
  const mounts = files.map((path, index) => {
    const own = join(directory, String(index));
    return `{ cat ${path}; echo '${lines[index]}'; } > ${own} && mount --bind ${own} ${path}`;
  });
  return ['unshare', '--mount', 'sh', '-c', [...mounts, 'exec "$@"'].join('; '), 'sh'];
}

/** Ends the process that podman leaves for an account without root, which all its later containers would use. */
export async function endPause(uid: number): Promise<void> {
  const pid = await readFile(`/tmp/podman-run-${uid}/libpod/tmp/pause.pid`, 'utf8').catch(() => null);
  if (pid !== null && existsSync(`/proc/${pid}`)) process.kill(Number(pid));
}
