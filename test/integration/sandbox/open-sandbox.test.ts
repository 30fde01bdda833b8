import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { openSandbox } from '../../../activities/sandbox/open-sandbox.ts';
import { accountsWithSandbox, testLimits } from '../../support/sandbox/sandbox.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const execute = promisify(execFile);
const { accounts } = await accountsWithSandbox();
const isRoot = process.getuid?.() === 0;
const module = join(import.meta.dirname, '../../../activities/sandbox/open-sandbox.ts');

/** Returns what a worker finds if `program` replaces bubblewrap, in its own mount namespace. */
async function openWith(program: string): Promise<{ problem: string | null }> {
  const directory = temporaryDirectory();
  const file = join(directory, 'bwrap');
  await writeFile(file, program);
  await chmod(file, 0o755);
  const script = `
      const { openSandbox } = await import(${JSON.stringify(module)});
      const limits = { memoryBytes: 2 ** 29, processes: 64, diskBytes: 2 ** 25 };
      const { problem } = await openSandbox({ directory: ${JSON.stringify(join(directory, 'sandbox'))}, limits });
      console.log(JSON.stringify({ problem }));`;
  const enter = 'mount --bind "$0" /usr/bin/bwrap && exec "$1" --input-type=module -e "$2"';
  const { stdout } = await execute('unshare', ['--mount', 'sh', '-c', enter, file, process.execPath, script]);
  return JSON.parse(stdout);
}

const version = '[ "$1" = --version ] && { echo "bubblewrap 0.11.0"; exit 0; }\n';
/** Runs the command unchanged. */
const nothing = `#!/bin/sh\n${version}while [ "$1" != -- ]; do shift; done; shift; exec "$@"\n`;
/** Pretends that the command runs in a sandbox. */
const liar = `#!/bin/bash\n${version}for a in "$@"; do [ "$a" = --json-status-fd ] && inner=1; done
while [ "$1" != -- ]; do shift; done; shift
[ -z "$inner" ] && exec "$@"
echo '{ "child-pid": '$$' }' >&5; "$@"; echo '{ "exit-code": '$?' }' >&5\n`;

it.runIf(existsSync('/usr/bin/podman'))('names a path that is too long for podman', async () => {
  const directory = join(temporaryDirectory(), 'x'.repeat(50));
  const { problem } = await openSandbox({ directory, engine: 'podman', limits: testLimits });
  expect(problem).toMatch(
    /podman needs a shorter path than .*; set TMPDIR to a folder whose path is \d+ or more characters shorter\.$/,
  );
});

it.runIf(isRoot && accounts.length > 0)('finds no sandbox where bubblewrap is too old or does not start', async () => {
  expect((await openWith('#!/bin/sh\necho "bubblewrap 0.4.1"\n')).problem).toContain('install 0.8 or newer');
  const broken = `#!/bin/sh\n${version}echo "bwrap: Creating new namespace failed: Operation not permitted" >&2; exit 1\n`;
  expect((await openWith(broken)).problem).toContain('does not let the worker create user namespaces');
});

it.runIf(isRoot && accounts.length > 0)('does not accept a sandbox that does not isolate', async () => {
  expect((await openWith(nothing)).problem).toContain('Commands cannot run here: ');
  expect((await openWith(liar)).problem).toContain('the sandbox of this machine does not hold');
});
