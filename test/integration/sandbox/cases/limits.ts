import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mountSmallDisk } from '../../../support/sandbox/small-disk.ts';
import { ownProcessors } from '../../../../activities/sandbox/processors.ts';
import { WorkerDiskFullError } from '../../../../activities/sandbox/sandbox-error.ts';
import {
  type OpenSandbox,
  processesNamed,
  testLimits,
  type TestAccount,
  type TestSandbox,
} from '../../../support/sandbox/sandbox.ts';

const megabyte = 2 ** 20;

const eat = (megabytes: number) =>
  `node -e 'const b = []; for (let i = 0; i < ${megabytes}; i += 8) b.push(Buffer.alloc(${8 * megabyte}, 1)); setTimeout(() => {}, 60000)'`;

/** 6 processes with 1,000 sockets each that are never read. */
const holdSockets = `for i in 1 2 3 4 5 6; do perl -MSocket -e '
  while (socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0)) {
    $a->blocking(0); push @held, $a, $b; while (syswrite $a, "x" x 65536) {}
  } sleep 60' & done; wait`;
/** Reads one byte in every 2 MB of untouched memory, so that only page tables are allocated. */
const holdPageTables = `perl -e '
  my $mmap = \`uname -m\` =~ /x86/ ? 9 : 222;
  for (1 .. 4) {
    my $at = syscall $mmap, 0, 1 << 36, 1, 0x4022, -1, 0;
    for (my $i = 0; $i < 1 << 36; $i += 2 << 20) { unpack "P1", pack "Q", $at + $i }
  } sleep 60'`;

/** Tests what a command can use up. */
export function limitCases(account: TestAccount, openSandbox: OpenSandbox): void {
  let sandbox: TestSandbox;
  beforeAll(async () => {
    sandbox = await openSandbox();
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());

  it('answers with the exit code and both outputs in order', async () => {
    const end = await sandbox.run('echo one; echo two >&2; echo three > /dev/stderr; exit 7');
    expect(end).toMatchObject({ exitCode: 7, stopped: null });
    expect(end.output.head.toString()).toBe('one\ntwo\nthree\n');
  });

  it('has the kernel limit each of its processes', async () => {
    const { output } = await sandbox.run('cat /proc/self/limits', { timeoutMs: 10_000 });
    const hard = Object.fromEntries(
      [...output.head.toString().matchAll(/^Max (.+?) {2,}\w+ +(\w+)/gm)].map(([, name, limit]) => [name, limit]),
    );
    expect(hard).toMatchObject({
      'cpu time': '20',
      'file size': String(testLimits.diskBytes),
      'data size': String(testLimits.memoryBytes + 2 ** 30),
      'core file size': '0',
      processes: String(testLimits.processes),
      'open files': '1024',
    });
  });

  it('binds all processes of a command to its processors', async () => {
    const all = ownProcessors().length;
    const count = async (options?: Parameters<TestSandbox['output']>[2]) =>
      Number(await sandbox.output('nproc', 0, options));
    expect(await count()).toBe(all);
    const environment = { limits: { ...testLimits, cpus: 1 } };
    expect(await count({ environment })).toBe(1);
    expect(await count({ environment: { limits: { ...testLimits, cpus: all + 1 } } })).toBe(all);
    const widened = `taskset --cpu-list 0-${cpus().length - 1} nproc`;
    expect(await sandbox.output(`${widened} 2>&1 || nproc`, 0, { environment })).toMatch(/not permitted\n1\n$/);
  });

  it('contains a fork bomb, and leaves nothing of it', async () => {
    const mark = `bomb-${randomUUID()}`;
    expect((await sandbox.run(`perl -e 'while (1) { fork } # ${mark}'`, { timeoutMs: 2_000 })).stopped).toBe('timeout');
    expect(await processesNamed(mark)).toEqual([]);
    const count = `perl -e 'my $n = 0; while ($n < 500) { my $p = fork; last if !defined $p; if (!$p) { sleep 600; exit } $n++ } print $n'`;
    expect(Number(await sandbox.output(count))).toBeLessThan(testLimits.processes);
    expect(Number(await sandbox.output(count))).toBeGreaterThan(testLimits.processes / 2);
  });

  it('stops a command that uses too much memory, in one process or in many', async () => {
    expect(await sandbox.run(eat(600))).toMatchObject({ stopped: 'memory', exitCode: null });
    expect(await sandbox.run(`${eat(160)} & ${eat(160)} & ${eat(160)} & wait`)).toMatchObject({ stopped: 'memory' });
    await sandbox.output(`node -e 'Buffer.alloc(64 * ${megabyte}, 1)'`);
  });

  it.each([
    ['sockets', holdSockets],
    ['page tables', holdPageTables],
    ['files of /dev/shm and memory together', `head -c 30M /dev/zero > /dev/shm/f & ${eat(180)} & ${eat(180)} & wait`],
    ['files', 'for place in /tmp /dev/shm; do head -c 80M /dev/zero > $place/f; done; sleep 60', 128],
    ['empty files', `perl -e 'for (1 .. 5e5) { open my $f, ">", "/dev/shm/$_" or last } sleep 60'`, 128],
  ])('stops a command that holds memory in %s', async (_where, command, limitMb = 384) => {
    const environment = { limits: { ...testLimits, memoryBytes: limitMb * megabyte, diskBytes: 512 * megabyte } };
    expect(await sandbox.run(command, { environment })).toMatchObject({ stopped: 'memory', exitCode: null });
    expect(await sandbox.output('echo on')).toBe('on\n');
  });

  it.runIf(account === 'owner' && process.getuid?.() === 0)(
    'lets the kernel end a command before the worker',
    async () => {
      const lower = '{ echo -100 > /proc/self/oom_score_adj; } 2> /dev/null; cat /proc/self/oom_score_adj';
      expect(await sandbox.output(lower)).toBe('500\n');
    },
  );

  it('stops a command that creates files endlessly, even empty ones', { tags: 'slow' }, async () => {
    const many = `node -e 'fs.mkdirSync("many"); for (let i = 0; i < 500000; i++) fs.closeSync(fs.openSync("many/" + i, "w"))'`;
    expect(await sandbox.run(many)).toMatchObject({ stopped: 'disk', exitCode: null });
    expect(await sandbox.run('rm -rf many')).toMatchObject({ exitCode: 0 });
  });

  it('lets no command corrupt the output of the next', async () => {
    for (const harm of [
      'chmod 000 /proc/self/fd/1',
      'chmod 000 /proc/self/fd/2 /proc/self/fd/0 .; rm -f /proc/self/fd/1',
    ])
      await sandbox.run(`${harm}; echo done`);
    expect(await sandbox.output('echo on > /dev/stderr')).toBe('on\n');
  });

  it('counts what a command adds to its own tree, and nothing else', async () => {
    const others = await mkdtemp(join(sandbox.directory, 'others-'));
    await writeFile(join(sandbox.tree, 'old'), Buffer.alloc(30 * megabyte, 1));
    const run = sandbox.run('chmod 600 old; mv old older; touch older; sleep 3; rm older; echo fine');
    for (let at = 0; at < 20; at += 1) {
      await writeFile(join(others, String(at)), Buffer.alloc(10 * megabyte, 1));
      await sleep(100);
    }
    expect(await run).toMatchObject({ exitCode: 0, stopped: null });
    await rm(others, { recursive: true });
    expect(await sandbox.run(`for f in a b; do head -c 20M /dev/zero > $f; done; sleep 1.1`)).toMatchObject({
      stopped: 'disk',
    });
    await sandbox.output('rm -f a b');
  });

  it('does not count what was written just before a command', async () => {
    for (let attempt = 0; attempt < 4; attempt += 1) {
      await sandbox.output('head -c 20M /dev/zero > before');
      expect(await sandbox.run('head -c 20M /dev/zero > after; sleep 0.3')).toMatchObject({ stopped: null });
      await sandbox.output('rm before after');
    }
  });

  it('lets a command write a file, but not reserve space', async () => {
    expect(await sandbox.output('fallocate -l 1M big 2>&1', 1)).toMatch(/Operation not supported/);
    const reserve = (request: number) =>
      `perl -e 'my $space = pack "s s x4 q q l L l4", 0, 0, 0, 1 << 20; open F, ">", "file"; ioctl F, ${request}, $space or print $! + 0'`;
    for (const request of [0x40305828, 0x4030582a, 0x40305839])
      expect(await sandbox.output(`${reserve(request)}; stat -c %b file`)).toBe('950\n');
    expect(await sandbox.output('fallocate --posix -l 2M small && stat -c %b small')).toBe('4096\n');
    await sandbox.output('rm -f big file small');
  });

  it.runIf(account === 'owner')(
    'distinguishes a full disk of the worker from a command that wrote too much',
    async ({ skip }) => {
      await using disk = await mountSmallDisk(8);
      if (disk === null) return skip('this account may not mount a file system');
      await using full = await openSandbox({ tree: join(disk.directory, 'tree') });
      await expect(full.run('head -c 20M /dev/zero > f')).rejects.toBeInstanceOf(WorkerDiskFullError);
      expect(await full.run('false || echo fine')).toMatchObject({ exitCode: 0 });
      expect(await full.run('rm f; exit 3')).toMatchObject({ exitCode: 3, stopped: null });
    },
  );

  it('measures what a command hides in folders deeper than the longest path, while others free as much', async () => {
    const others = join(sandbox.directory, 'others');
    await writeFile(others, Buffer.alloc(100 * megabyte, 1));
    const dig = `perl -e 'for (1 .. 30) { mkdir "d" x 200; chdir "d" x 200 } for (1 .. 5) { system "head -c 10M /dev/zero > $_" } print "filled\\n"; sleep 60'`;
    const run = sandbox.run(dig, { timeoutMs: 30_000 });
    await rm(others);
    expect(await run).toMatchObject({ stopped: 'disk' });
    await sandbox.output('rm -rf ddd*');
  });

  it('runs the next command after one left folders deeper than the longest path, or unreadable ones', async () => {
    const dig = `node -e 'for (let i = 0; i < 2500; i++) { fs.mkdirSync("d"); process.chdir("d") } fs.writeFileSync("f", "", { mode: 0 })'`;
    expect(await sandbox.run(`mkdir deep; cd deep; ${dig}; chmod 000 d; find /tree/deep -name f`)).toMatchObject({
      stopped: null,
    });
    expect(await sandbox.output('echo on')).toBe('on\n');
    expect(await sandbox.run('chmod 700 deep/d; rm -rf deep')).toMatchObject({ exitCode: 0 });
  });

  it('stops a command that fills the disk, wherever it hides what it writes', async () => {
    const many = `for i in $(seq 1000); do head -c 4M /dev/urandom > big-$i; done`;
    expect(await sandbox.run(many)).toMatchObject({ stopped: 'disk' });
    const hidden = `rm -f big-*; mkdir hidden; cd hidden; chmod 000 ../hidden; ${many}`;
    expect(['disk', null]).toContain((await sandbox.run(hidden)).stopped);
    expect(await sandbox.run('chmod 700 hidden; rm -rf big-* hidden')).toMatchObject({ exitCode: 0 });
    const one = await sandbox.run('head -c 100M /dev/zero > one');
    expect((await lstat(join(sandbox.tree, 'one'))).size).toBeLessThanOrEqual(testLimits.diskBytes);
    expect(one.exitCode).not.toBe(0);
    await sandbox.output('rm one');
  });

  it('limits the size of /tmp, /dev/shm and the folders above', async () => {
    for (const place of ['/tmp', '/dev/shm']) {
      expect(
        await sandbox.output(`for i in 1 2 3; do head -c 20M /dev/zero > ${place}/f$i 2>/dev/null || echo full; done`),
      ).toContain('full');
    }
    await sandbox.output('echo x > /dev/x', 1);
    await sandbox.output('mkdir /x', 1);
  });

  it('stops a command that runs too long or prints too much', async () => {
    expect(await sandbox.run('while :; do :; done', { timeoutMs: 1_000 })).toMatchObject({
      stopped: 'timeout',
      exitCode: null,
    });
    const loud = await sandbox.run('yes loud', { timeoutMs: 50_000 });
    expect(loud.stopped).toBe('output');
    expect(loud.output.head.length + loud.output.tail.length).toBeLessThan(2 * megabyte);
    expect(loud.output.omitted).toBeGreaterThan(0);
    const long = await sandbox.run('seq 300000');
    expect(long.output.head.toString().slice(0, 4)).toBe('1\n2\n');
    expect(long.output.tail.toString().endsWith('299999\n300000\n')).toBe(true);
  });

  it.each([
    ['in the background', (mark: string) => `(exec -a ${mark} sleep 600) & echo begun`],
    ['in a session of its own', (mark: string) => `setsid bash -c 'exec -a ${mark} sleep 600' & echo begun`],
    [
      'after a double fork',
      (mark: string) => `((setsid bash -c 'exec -a ${mark} sleep 600' &) &); sleep 0.2; echo begun`,
    ],
    [
      'without its outputs',
      (mark: string) =>
        `nohup setsid bash -c 'exec -a ${mark} sleep 600' > /dev/null 2>&1 < /dev/null & sleep 0.2; echo begun`,
    ],
  ])('ends with the command what it started %s', async (_how, command) => {
    const mark = `left-${randomUUID()}`;
    expect(await sandbox.output(command(mark))).toBe('begun\n');
    expect(await processesNamed(mark)).toEqual([]);
  });

  it.each([
    [
      'that ignores signals',
      (mark: string) => `trap '' TERM INT HUP QUIT; (exec -a ${mark} sleep 600) & while :; do sleep 1; done`,
    ],
    ['that has stopped its parents', (mark: string) => `(exec -a ${mark} sleep 600) & kill -STOP $PPID $$; sleep 600`],
    ['that sleeps in a trap', (mark: string) => `trap 'sleep 600' EXIT TERM; bash -c 'exec -a ${mark} sleep 600'`],
    [
      'in sessions of its own',
      (mark: string) => `setsid setsid bash -c 'trap "" TERM; exec -a ${mark} sleep 600' & sleep 600`,
    ],
  ])('ends a command %s within two seconds of the cancel', async (_how, command) => {
    const mark = `cancelled-${randomUUID()}`;
    const controller = new AbortController();
    const run = sandbox.run(`echo ${mark} > begun; ${command(mark)}`, { signal: controller.signal }).then(
      () => 'answered',
      (error: Error) => error.message,
    );
    await expect.poll(() => readFile(join(sandbox.tree, 'begun'), 'utf8').catch(() => '')).toBe(`${mark}\n`);
    await expect.poll(() => processesNamed(mark)).not.toEqual([]);
    controller.abort(new Error('aborted by the test'));
    expect(await run).toContain('aborted by the test');
    expect(await processesNamed(mark)).toEqual([]);
  });

  it('can be ended at any moment of its start', async () => {
    const mark = `begun-${randomUUID()}`;
    for (let delay = 0; delay < 45; delay += 3) {
      const controller = new AbortController();
      const run = sandbox.run(`exec -a ${mark} sleep 600`, { signal: controller.signal });
      await sleep(delay);
      controller.abort(new Error('aborted by the test'));
      await expect(run).rejects.toThrow('aborted by the test');
    }
    expect(await processesNamed(mark)).toEqual([]);
    expect(await sandbox.output('echo still works')).toBe('still works\n');
  });

  it('returns the tree in a state that the worker can read and write', async () => {
    await sandbox.output(
      'mkdir -p a/b && echo x > a/b/c && chmod 000 a/b/c && chmod 000 a/b && chmod 555 a && ln -s /etc/shadow a-link; mkfifo pipe',
    );
    expect(await readdir(sandbox.tree)).toEqual(expect.arrayContaining(['a', 'a-link', 'pipe']));
    expect(await sandbox.output('cat a/b/c 2>/dev/null || { chmod -R u+rwX a; cat a/b/c; }')).toBe('x\n');
    expect(await readFile(join(sandbox.tree, 'a/b/c'), 'utf8')).toBe('x\n');
    await sandbox.output('rm -rf a a-link pipe');
  });

  it.runIf(account === 'owner')('may change what the worker writes in between', async () => {
    await writeFile(join(sandbox.tree, 'between.sh'), 'echo between\n', { mode: 0o600 });
    expect(await sandbox.output('chmod +x between.sh && bash between.sh && rm between.sh')).toBe('between\n');
    await chmod(sandbox.tree, 0o700);
    expect(await sandbox.output('echo still > here && cat here')).toBe('still\n');
  });
}
