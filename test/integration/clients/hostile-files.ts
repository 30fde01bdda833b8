import { execFile } from 'node:child_process';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Git configuration in which every line runs a command if git applies it. */
export const hostileConfig = (mark: string) => `[core]
  fsmonitor = "touch ${mark}; false"
  hooksPath = hooks
  sshCommand = touch ${mark}
  editor = touch ${mark}
  pager = touch ${mark}
[filter "evil"]
  clean = "touch ${mark}; cat"
  smudge = "touch ${mark}; cat"
  process = touch ${mark}
[diff "evil"]
  textconv = touch ${mark}; cat
  command = touch ${mark}
[diff]
  external = touch ${mark}
[merge "evil"]
  driver = touch ${mark}
[gpg]
  program = touch ${mark}
[commit]
  gpgSign = true
[credential]
  helper = "!touch ${mark}"
[url "ext::touch ${mark} "]
  insteadOf = /
[remote "origin"]
  pushurl = ext::touch ${mark}
[include]
  path = ../config
`;

/** Creates a repository in the tree whose hooks and configuration run a command. */
export async function addHostileRepository(directory: string, mark: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(join(directory, 'hooks'), { recursive: true });
  await mkdir(join(directory, 'objects'), { recursive: true });
  await mkdir(join(directory, 'refs', 'heads'), { recursive: true });
  await writeFile(join(directory, 'HEAD'), 'ref: refs/heads/main\n');
  await writeFile(join(directory, 'config'), hostileConfig(mark));
  for (const hook of [
    'pre-commit',
    'pre-push',
    'post-checkout',
    'post-index-change',
    'reference-transaction',
    'fsmonitor-watchman',
  ]) {
    await writeFile(join(directory, 'hooks', hook), `#!/bin/sh\ntouch ${mark}\n`);
    await chmod(join(directory, 'hooks', hook), 0o755);
  }
}

/** Gives a bare repository hooks and configuration that run a command when it is served. */
export async function addHostileHooks(repository: string, mark: string): Promise<void> {
  await mkdir(join(repository, 'hooks'), { recursive: true });
  for (const hook of [
    'pre-receive',
    'update',
    'post-receive',
    'post-update',
    'reference-transaction',
    'proc-receive',
  ]) {
    await writeFile(join(repository, 'hooks', hook), `#!/bin/sh\ntouch ${mark}\n`);
    await chmod(join(repository, 'hooks', hook), 0o755);
  }
  await writeFile(
    join(repository, 'config'),
    `[core]\n  bare = true\n  repositoryFormatVersion = 0\n  fsmonitor = touch ${mark}\n  hooksPath = hooks\n  alternateRefsCommand = touch ${mark}\n[uploadpack]\n  packObjectsHook = touch ${mark}\n`,
  );
}

/** Creates nested folders below one, like a command that enters each of them, with a file in the deepest. */
export async function digDown(folder: string, levels: number, name = 'd'): Promise<void> {
  const dig = `for (let i = 0; i < ${levels}; i++) { fs.mkdirSync('${name}', { recursive: true }); process.chdir('${name}'); }`;
  await promisify(execFile)(process.execPath, ['-e', `${dig} fs.writeFileSync('file', 'x')`], { cwd: folder });
}
