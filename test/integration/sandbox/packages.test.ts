import { execFile } from 'node:child_process';
import { chmod, lstat, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPackages } from '../../../activities/environment/install-packages.ts';
import type { CommandEnd } from '../../../activities/sandbox/running-command.ts';
import { seenUid, testEngine } from '../../support/sandbox/engine.ts';
import { openPackageImages, packageImage, plainImage } from '../../support/sandbox/package-image.ts';
import { accountsWithSandbox, openTestSandbox, testLimits, type TestAccount } from '../../support/sandbox/sandbox.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const { accounts } = await accountsWithSandbox();
const execute = promisify(execFile);
const { signal } = new AbortController();
const live = { push() {}, end: () => Promise.resolve() };
const textOf = ({ output: { head, tail } }: CommandEnd) => Buffer.concat([head, tail]).toString();

/** Images whose packages are these scripts, of a worker of this account. */
async function startImages(account: TestAccount, packages: Record<string, string>) {
  const directory = temporaryDirectory();
  const images = await openPackageImages(directory, packages);
  const sandbox = await openTestSandbox(account);
  const { uid } = await stat(sandbox.tree);
  const ends: CommandEnd[] = [];

  /** Lets the account enter the folders above a path. */
  async function openAbove(path: string): Promise<void> {
    for (let at = dirname(path); at.startsWith(directory); at = dirname(at)) await chmod(at, 0o755);
  }

  async function install(names: string[], { image = packageImage, timeoutMs = 30_000 } = {}) {
    const base = await images.provide(image, signal);
    const root = await images.extend(base, names, {
      signal,
      async install(tree, { addedBytes, totalBytes }) {
        await execute('chown', ['-R', `${uid}:${uid}`, tree]);
        await openAbove(tree);
        await using inTree = await openTestSandbox(account, { tree });
        const run = ({ command, environment = {} }: { command: string; environment?: object }) =>
          inTree.run(command, { timeoutMs, environment });
        const limits = { ...testLimits, diskBytes: addedBytes, totalBytes };
        const end = await installPackages(
          { kind: '', limitsMemory: false, run },
          { jobId: '', tree, packages: names, timeoutMs, environment: { root: base, hosts: [], limits }, signal, live },
        );
        ends.push(end);
        if (end.exitCode !== 0) throw new Error(`${end.stopped ?? end.exitCode}: ${textOf(end)}`);
      },
    });
    await openAbove(root.directory);
    return root;
  }

  return {
    directory,
    openAbove,
    images,
    sandbox,
    install,
    output: () => textOf(ends.at(-1)!),
    installs: () => ends.length,
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
}

/** In a container, the folder of devices is in memory and belongs to root. */
const look = `
id -u
while IFS=':	' read -r name value; do echo "$name $value"; done < /proc/self/status
echo 'tool:x:101:101::/:/bin/sh' >> /etc/passwd
printf '#!/bin/sh\\necho installed\\n' > /usr/bin/tool
chmod 4755 /usr/bin/tool && chown 12:34 /usr/bin/tool && mknod /usr/bin/device c 1 3 && echo pretended
mkfifo /usr/bin/pipe
mkdir /opt && echo x > /opt/private && chmod 600 /opt/private && chmod 1700 /opt
for file in /etc/hosts /proc/sys/kernel/hostname ${testEngine === 'podman' ? '' : '/dev/new'}; do (echo evil > $file) 2> /dev/null && echo "wrote $file"; done
ls -l /proc/self/fd
`;

describe.runIf(accounts.length > 0).each(accounts)('packages of an image, as %s', (account) => {
  let scene: Awaited<ReturnType<typeof startImages>>;
  beforeAll(async () => {
    const packages = { look, one: 'echo 1 > /one', two: '', full: 'cat /dev/zero > /zeros', hang: 'sleep 60' };
    scene = await startImages(account, packages);
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  it('are installed by a root that has power over the copy alone', async () => {
    const root = await scene.install(['look']);
    const output = scene.output();
    for (const line of ['0', 'CapBnd 0000000000000000', 'NoNewPrivs 1', 'Seccomp 2', 'pretended'])
      expect(output.split('\n')).toContain(line);
    expect(output).not.toContain('wrote');
    const opened = [...output.matchAll(/ (\d+) -> (\S+)/g)].map(([, fd, path]) => `${fd} ${path}`);
    expect(opened.filter((one) => !/^(?:[12] \S*\/output-|3 \/proc\/|\d+ \/dev\/null$)/.test(one))).toEqual([]);

    const at = (path: string) => lstat(join(root.directory, path));
    expect((await at('usr/bin/tool')).mode & 0o7777).toBe(0o755);
    expect((await at('usr/bin/tool')).uid).toBe(process.getuid?.());
    expect((await at('opt')).mode & 0o7777).toBe(0o755);
    await expect(at('usr/bin/pipe')).rejects.toThrow('ENOENT');
    expect(await readFile(join(root.directory, 'etc/passwd'), 'utf8')).toContain('tool:x:101');
  });

  it('are read-only to an agent, for which nothing is pretended', async () => {
    const base = await scene.images.provide(packageImage, signal);
    const root = await scene.install(['look']);
    const environment = { root };
    expect(await scene.sandbox.output('tool; id -u; cat /opt/private', 0, { environment })).toMatch(
      new RegExp(`^installed\n${seenUid(account)}\nx\n$`),
    );
    const command = `touch own; chown 12:34 own && echo chowned; mknod device c 1 3 && echo made
      for at in /usr/bin/new /opt/new /new /etc/passwd; do (echo x >> $at) 2> /dev/null && echo "wrote $at"; done; true`;
    expect(await scene.sandbox.output(command, 0, { environment })).not.toMatch(/^(?:chowned|made|wrote)/m);
    // the image itself is as it was
    await scene.openAbove(base.directory);
    expect(await scene.sandbox.output('tool', 127, { environment: { root: base } })).toContain('not found');
  });

  it('are installed once, whatever their order', { tags: 'slow' }, async () => {
    const before = scene.installs();
    const roots = await Promise.all(
      [
        ['one', 'two'],
        ['two', 'one'],
        ['one', 'two', 'one'],
      ].map((names) => scene.install(names)),
    );
    expect(new Set(roots.map(({ id }) => id)).size).toBe(1);
    expect(scene.installs()).toBe(before + 1);
    expect((await scene.install(['two'])).id).not.toBe(roots[0]!.id);
  });

  it.each([
    ['do not exist', ['one', 'gone'], {}, '100: Setting up one ...\nE: Unable to locate package gone'],
    ['are for an image without apt-get', ['two'], { image: plainImage }, '90: '],
    ['fill the disk', ['full'], {}, /^(?:disk|100): /],
    ['hang', ['hang'], { timeoutMs: 1_000 }, 'timeout: '],
  ] as [string, string[], { image?: string; timeoutMs?: number }, string | RegExp][])(
    'leave nothing where they %s',
    { tags: 'slow' },
    async (_, names, options, failure) => {
      await expect(scene.install(names, options)).rejects.toThrow(failure);
      const base = await scene.images.provide(options.image ?? packageImage, signal);
      expect(await scene.images.extended(base, names)).toBeNull();
      expect(await readdir(join(scene.directory, 'work/images/unfinished'))).toEqual([]);
    },
  );
});
