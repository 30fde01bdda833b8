import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createGit } from '../../../activities/git/git.ts';
import { live } from '../clients/setup.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let directory: string;
beforeAll(async () => {
  directory = temporaryDirectory();
});

async function script(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, `#!/bin/sh\n${text}\n`);
  await chmod(path, 0o755);
  return path;
}

describe('a sequence of commands', () => {
  const echo = `for last; do :; done
case "$1" in
  fail) echo "fatal: bad object $last" >&2; exit 128 ;;
  read) cat ;;
  large) head -c "$2" /dev/zero ;;
  *) printf '%s,' "$@" ;;
esac`;

  it('returns the output of each, byte for byte, with its arguments as they are', async () => {
    const git = createGit({ gitBinary: await script('echo', echo), home: join(directory, 'home') });
    const input = Buffer.from([0, 10, 255, 10]);
    const commands = [{ args: ['a b', `it's "$HOME" \`id\` \\`] }, { args: ['read'] }, { args: ['-', ''] }];
    const results = await git.runAll({ gitDir: directory, commands, input, signal: live });
    expect(results.map(({ stdout }) => stdout)).toEqual([
      Buffer.from(`a b,it's "$HOME" \`id\` \\,`),
      input,
      Buffer.from('-,,'),
    ]);
    expect(await git.runAll({ gitDir: directory, commands: [], signal: live })).toEqual([]);
  });

  it('ends at the first that fails, with its failure', async () => {
    const ran = join(directory, 'ran');
    const git = createGit({
      gitBinary: await script('failing', `[ "$1" = touch ] && touch ${ran}; ${echo}`),
      home: join(directory, 'home'),
    });
    const commands = [{ args: ['one'] }, { args: ['fail', 'abc'] }, { args: ['touch'] }];
    const running = git.runAll({ gitDir: directory, commands, signal: live });
    await expect(running).rejects.toMatchObject({ name: 'GitError', kind: 'corrupt' });
    expect(existsSync(ran)).toBe(false);
  });

  it('gives long outputs their own limits', async () => {
    const git = createGit({ gitBinary: await script('large', echo), home: join(directory, 'home') });
    const large = (bytes: number, maxOutputBytes?: number) => ({ args: ['large', String(bytes)], maxOutputBytes });
    const of = async (...commands: ReturnType<typeof large>[]) =>
      (await git.runAll({ gitDir: directory, commands, signal: live })).map(({ stdout, truncated }) => [
        stdout.length,
        truncated,
      ]);
    expect(await of(large(3e6, 4e6), large(10, 5), large(20))).toEqual([
      [3e6, false],
      [5, true],
      [20, false],
    ]);
    expect(await of(large(10), large(10, 5))).toEqual([
      [10, false],
      [5, true],
    ]);
  });
});
