import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

function help(command: string) {
  const { status, stderr } = spawnSync('sh', ['-c', command, process.execPath, resolve('cli/docket.ts')], {
    encoding: 'utf8',
  });
  return { status, stderr };
}

it.runIf(existsSync('/dev/full'))('fails when its output cannot be written, and says why', () => {
  const stderr = expect.stringMatching(/^The output could not be written: ENOSPC[^\n]*\n$/);
  expect(help('"$0" "$1" --help > /dev/full')).toEqual({ status: 1, stderr });
});

it('succeeds when the reader of its output leaves', () => {
  expect(help('{ "$0" "$1" --help; echo $? >&2; } | true')).toEqual({ status: 0, stderr: '0\n' });
});
