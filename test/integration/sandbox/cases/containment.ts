import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { numberOf, refusedSyscalls } from '../../../../activities/sandbox/syscalls.ts';
import { seenUid } from '../../../support/sandbox/engine.ts';
import { type OpenSandbox, type TestAccount, type TestSandbox } from '../../../support/sandbox/sandbox.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const execute = promisify(execFile);
const architecture = process.arch === 'arm64' ? 'arm64' : 'x64';

/** A fake sandbox that isolates nothing: each attack must succeed in it first. */
async function withoutDefence(command: string): Promise<string> {
  const tree = temporaryDirectory();
  const flags = ['--unshare-all', '--ro-bind', '/', '/', '--dev', '/dev', '--bind', tree, tree, '--chdir', tree];
  const { stdout } = await execute('bwrap', [...flags, '--', 'bash', '-c', `${command}\nexit 0`]);
  return stdout;
}

/** The error number of system calls with all arguments 0. */
const errorsOf = (numbers: number[]) =>
  `perl -e 'for (@ARGV) { $! = 0; syscall($_, 0, 0, 0, 0, 0, 0); print $! + 0, "\\n" }' ${numbers.join(' ')}`;
const socketOf = (family: number, type: number) =>
  `perl -e 'use Socket; print socket(my $s, ${family}, ${type}, 0) ? "made" : "refused: $!"'`;
const connectTo = (path: string) =>
  `node -e 'const s = require("net").connect(${JSON.stringify(path)}); s.on("data", (d) => { console.log(String(d)); process.exit() }); s.on("error", (e) => { console.log(e.code); process.exit() })'`;

/** Tests what a command can reach. */
export function containmentCases(account: TestAccount, openSandbox: OpenSandbox): void {
  /** Root's attempts in a fake sandbox: what they reach shows that the attack works. */
  const hasControl = account === 'owner' && process.getuid?.() === 0;
  let sandbox: TestSandbox;
  beforeAll(async () => {
    sandbox = await openSandbox();
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());

  it('runs the machine’s tools on the tree', async () => {
    await writeFile(join(sandbox.tree, 'a.txt'), 'lamp\n');
    expect(await sandbox.output('cat a.txt; pwd; node -p 6*7; git --version | cut -c1-11; echo $HOME')).toBe(
      'lamp\n/tree\n42\ngit version\n/tmp\n',
    );
    await sandbox.output('mkdir -p out && echo done > out/b.txt && chmod +x out/b.txt && rm a.txt');
    expect(await readFile(join(sandbox.tree, 'out/b.txt'), 'utf8')).toBe('done\n');
    expect(await sandbox.output('node -p process.version')).toBe(`${process.version}\n`);
  });

  it('has no capabilities, and cannot gain any', async () => {
    const status = await sandbox.output('cat /proc/self/status');
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
      expect(status).toMatch(new RegExp(`${set}:\\s+0{16}\\n`));
    expect(status).toMatch(/NoNewPrivs:\s+1\n/);
    expect(status).toMatch(/Seccomp:\s+2\n/);
    expect(await sandbox.output('unshare -Urm true 2>&1; echo $?')).toMatch(/\n1\n$/);
  });

  it('cannot be made writable by a mount', async () => {
    const outside = join(sandbox.directory, 'outside');
    await mkdir(outside, { recursive: true });
    const attack = (name: string) =>
      `mount -o remount,rw,bind / 2>&1; mkdir -p ${outside} 2>&1; echo escaped > ${outside}/${name}`;
    if (hasControl) {
      await withoutDefence(attack('control'));
      expect(await readFile(join(outside, 'control'), 'utf8')).toBe('escaped\n');
    }
    await sandbox.run(attack('file'));
    await expect(readFile(join(outside, 'file'))).rejects.toThrow('ENOENT');
  });

  it.each(['/', '/usr', '/usr/bin', '/etc', '/dev', '/opt', '/proc/sys/kernel', '/var', '/root', '/sys'])(
    'writes nothing to %s',
    async (place) => {
      expect(
        await sandbox.output(
          `touch ${place}/docket-canary 2>/dev/null; echo $?; ls ${place} 2>/dev/null | grep canary`,
          1,
        ),
      ).toBe('1\n');
    },
  );

  it('sees nothing of the machine but its programs', async () => {
    const secret = join(sandbox.directory, 'secret');
    await writeFile(secret, 'canary-file');
    await chmod(secret, 0o644);
    await symlink(secret, join(sandbox.tree, 'link'));
    const places = [
      secret,
      'link',
      '/etc/shadow',
      '/root',
      '/home',
      '/proc/1/root/etc/shadow',
      '/var',
      '/run',
      '/work',
      '/sys',
    ];
    for (const place of places)
      expect(await sandbox.output(`cat ${place} 2>&1; ls -R ${place} 2>&1; true`)).not.toContain('canary');
    expect(await sandbox.output('cat /etc/passwd; id -un')).toMatch(
      new RegExp(`^root:x:0:0:root:/:/bin/sh\njob:x:(${seenUid(account)}):\\1:job:/home/job:/bin/sh\njob\n$`),
    );
    if (hasControl) expect(await withoutDefence(`cat ${secret}`)).toBe('canary-file');
  });

  it('sees no other processes, no environment of the worker and none of its descriptors', async () => {
    process.env['DOCKET_CANARY'] = 'canary-environment';
    try {
      expect(
        await sandbox.output('env; cat /proc/*/environ | tr "\\0" "\\n"; ps ax 2>/dev/null; cat /proc/*/cmdline'),
      ).not.toContain('canary-env');
      if (hasControl) expect(await withoutDefence('env')).toContain('canary-environment');
    } finally {
      delete process.env['DOCKET_CANARY'];
    }
    expect((await sandbox.output('env | cut -d= -f1 | sort')).split('\n')).toEqual([
      'HOME',
      'LANG',
      'PATH',
      'PWD',
      'SHLVL',
      '_',
      '',
    ]);
    const open = await sandbox.output('for f in /proc/self/fd/*; do readlink $f; done; true');
    expect(open.replaceAll(/^\/proc\/.*\n|^\S*\/output-[\da-f-]+ \(deleted\)\n|^\/dev\/null\n/gm, '')).toBe('');
    expect((await sandbox.output('ls /proc | grep -c "^[0-9]"')).length).toBeLessThan(3);
  });

  it('reaches no socket of the machine, by a path in the tree or an abstract name', async () => {
    const server = createServer((socket) => socket.end('canary-socket'));
    const path = join(sandbox.tree, 'socket');
    server.listen(path);
    await once(server, 'listening');
    await chmod(path, 0o777);
    try {
      if (hasControl) expect(await withoutDefence(connectTo(path))).toContain('canary-socket');
      expect(await sandbox.output(connectTo('/tree/socket'))).toMatch(/^E(?:PERM|ACCES)\n$/);
    } finally {
      server.close();
    }
    const abstract = createServer((socket) => socket.end('canary-socket')).listen(`\0docket-${randomUUID()}`);
    await once(abstract, 'listening');
    expect(await sandbox.output(socketOf(1, 1))).toBe('refused: Operation not permitted');
    abstract.close();
  });

  it.each([
    ['unix', 1, 1],
    ['netlink', 16, 3],
    ['packet', 17, 3],
    ['algorithm', 38, 5],
    ['vsock', 40, 1],
  ])('creates no socket of the family %s', async (_name, family, type) => {
    expect(await sandbox.output(socketOf(family, type))).toBe('refused: Operation not permitted');
  });

  it('has its own network with nothing on it', async () => {
    const server = createServer((socket) => socket.end('canary-network')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const connect = `node -e 'const s = require("net").connect(${port}, "127.0.0.1"); s.on("data", (d) => console.log(String(d))); s.on("error", (e) => console.log(e.code))'`;
    expect(await sandbox.output(connect)).toBe('ECONNREFUSED\n');
    server.close();
    expect(await sandbox.output('tail -n +3 /proc/net/dev | cut -d: -f1')).toMatch(/^\s*lo\n$/);
    const own = `node -e 'const s = require("net").createServer((c) => c.end("own")).listen(0, "127.0.0.1", () => require("net").connect(s.address().port, "127.0.0.1").on("data", (d) => { console.log(String(d)); process.exit() }))'`;
    expect(await sandbox.output(own)).toBe('own\n');
  });

  it('refuses each system call that reaches outside', async () => {
    const known = refusedSyscalls.flatMap((name) => {
      const number = numberOf(name, architecture);
      return number === null ? [] : [{ name, number }];
    });
    const errors = (await sandbox.output(errorsOf(known.map(({ number }) => number)))).trim().split('\n');
    expect(known.filter((_, index) => errors[index] !== '1').map(({ name }) => name)).toEqual([]);
    const harmless = ['memfd_create', 'keyctl', 'io_uring_setup'] as const;
    const { stdout } = await execute('bash', ['-c', errorsOf(harmless.map((name) => numberOf(name, architecture)!))]);
    expect(stdout.split('\n')).not.toContain('1');
    expect(await sandbox.output(errorsOf([numberOf('clone3', architecture)!, 451, 467]))).toBe('38\n38\n38\n');
  });

  it.runIf(architecture === 'x64')('has no second table of system calls', async () => {
    // getpid by its x32 number
    expect(await sandbox.output(errorsOf([0x40000000 + 39]))).toBe('38\n');
    expect(await sandbox.output(`perl -e '$r = syscall(135, 0x0008); print $! + 0'`)).toBe('22');
  });

  it('injects nothing into a terminal’s input', async () => {
    expect(await sandbox.output(`perl -e 'my $c = "x"; ioctl(STDIN, 0x5412, $c) or print $! + 0'`)).toBe('1');
    expect(await sandbox.output('cat /dev/tty 2>&1', 1)).toContain('No such device');
  });

  it('carries nothing from one command to the next except the tree', async () => {
    const leave =
      'echo evil > /tmp/left; mkdir -p bin && printf "#!/bin/sh\\necho evil" > bin/ls && chmod +x bin/ls; export PATH=/tree/bin:$PATH LD_PRELOAD=/tree/x.so; ls() { echo evil; }; export -f ls';
    await sandbox.run(leave);
    expect(await sandbox.output('ls /tmp; echo $LD_PRELOAD; command -v ls')).toBe('\n/usr/bin/ls\n');
  });
}
