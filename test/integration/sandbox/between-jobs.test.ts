import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { accountsWithSandbox, openTestSandbox, testLimits, type TestSandbox } from '../../support/sandbox/sandbox.ts';
import { fc, propertyRuns } from '../../support/properties.ts';

const { accounts } = await accountsWithSandbox();

/** Ways to leave a mark, `$1`, and to find all existing marks. */
const channels: Record<string, { leave: string; look: string }> = {
  'a file of /tmp': { leave: 'echo "$1" > /tmp/mark', look: 'cat /tmp/* 2>&1' },
  'a name in /tmp': { leave: 'mkdir -p "/tmp/a/$1"', look: 'ls -R /tmp' },
  'shared memory': { leave: 'echo "$1" > /dev/shm/mark', look: 'cat /dev/shm/* 2>&1' },
  'the working copy': { leave: 'echo "$1" > mark', look: 'cat mark /tree/mark /tmp/tree/mark 2>&1' },
  'a process that stays': {
    leave: `setsid bash -c 'exec -a "$0" sleep 600' "$1" > /dev/null 2>&1 < /dev/null & sleep 0.2`,
    look: `cat /proc/[0-9]*/cmdline | tr '\\0' '\\n'`,
  },
  'the environment of a process': {
    // without another program between, which would show no environment while it becomes the next
    leave: `MARK="$1" sleep 600 > /dev/null 2>&1 < /dev/null & for i in $(seq 200); do cat /proc/[0-9]*/environ | grep -aq "$1" && break; sleep 0.1; done`,
    look: `cat /proc/[0-9]*/environ | tr '\\0' '\\n'`,
  },
  'a server on loopback': {
    leave: `setsid node -e 'require("net").createServer((s) => s.on("error", () => {}).end(process.argv[1])).listen(45678, "127.0.0.1")' "$1" > /dev/null 2>&1 & for i in $(seq 200); do (exec 3<>/dev/tcp/127.0.0.1/45678) && break; sleep 0.1; done`,
    look: `node -e 'const s = require("net").connect(45678, "127.0.0.1"); s.on("data", (d) => console.log(String(d))); s.on("error", () => {})'`,
  },
  'an abstract socket': {
    leave: `setsid perl -MSocket -e 'socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0); socket(my $s, AF_UNIX, SOCK_STREAM, 0) and bind($s, pack("Sa*", AF_UNIX, "\\0$ARGV[0]")); sleep 600' "$1" > /dev/null 2>&1 & sleep 0.2`,
    look: 'cat /proc/net/unix',
  },
  'System V memory': {
    leave: 'ipcmk -M 4096; ipcmk -Q; ipcmk -S 1; true',
    look: `tail -n +2 -q /proc/sysvipc/shm /proc/sysvipc/msg /proc/sysvipc/sem | grep -q . && printf 'mark-%s\\n' ipc`,
  },
  'a message queue': {
    leave: `perl -e 'syscall($ENV{MQ} // 240, "$ARGV[0]", 0102, 0666, 0)' "$1"`,
    look: 'ls /dev/mqueue 2>&1; true',
  },
  'a key of the kernel': {
    leave: `perl -e 'my @k = ("user", "$ARGV[0]", "x"); syscall(248, $k[0], $k[1], $k[2], 1, $_) for -3, -4, -5' "$1"`,
    look: 'cat /proc/keys 2>&1',
  },
  'the name of the host': { leave: 'hostname "$1" 2> /dev/null', look: 'hostname' },
  'a descriptor': {
    leave: 'exec 9> /tmp/nine; echo "$1" >&9; (sleep 600 &) ; true',
    look: 'for f in /proc/self/fd/* /proc/[0-9]*/fd/*; do readlink "$f"; timeout 0.3 head -c 200 "$f" < /dev/null; done 2>/dev/null',
  },
  'a lock of a file that all can read': {
    leave: 'exec 8< /usr/bin/env; flock -n 8; (sleep 600 &); true',
    look: 'exec 8< /usr/bin/env; flock -n 8 || printf "mark-%s\\n" lock',
  },
  'a pipe': { leave: 'mkfifo /tmp/pipe; (echo "$1" > /tmp/pipe &); true', look: 'timeout 1 cat /tmp/pipe 2>&1' },
};
/** The sandbox refuses these, even within one command, or they do not carry the mark itself. */
const refused = new Set([
  'an abstract socket',
  'System V memory',
  'a message queue',
  'a key of the kernel',
  'the name of the host',
  'a lock of a file that all can read',
]);
const names = Object.keys(channels);

const leaving = (chosen: readonly string[], mark: string) =>
  chosen
    .map((name) => `(set -- '${mark}-${names.indexOf(name)}'; ${channels[name]?.leave}) 2> /dev/null || true`)
    .join('\n');
const looking = names.map((name) => `(${channels[name]?.look}) 2> /dev/null || true`).join('\n');

describe.runIf(accounts.length > 0).each(accounts)('what a job leaves in the sandbox of an account: %s', (account) => {
  let sandbox: TestSandbox;
  beforeAll(async () => {
    sandbox = await openTestSandbox(account);
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());

  async function said(jobId: string, command: string): Promise<string> {
    const end = await sandbox.run(command, { jobId });
    expect(end.stopped).toBeNull();
    return Buffer.concat([end.output.head, end.output.tail]).toString('utf8');
  }

  it.each(names.filter((name) => !refused.has(name)))('is found by its own command: %s', async (name) => {
    const mark = `mark-${randomUUID()}`;
    const leave = `set -- '${mark}'; ${channels[name]?.leave}`;
    expect(await said('own', `${leave}\n(${channels[name]?.look})`)).toContain(mark);
  });

  it('counts the processes of a job for no other one', async () => {
    const most = `for i in $(seq ${testLimits.processes - 16}); do sleep 60 & done`;
    const controller = new AbortController();
    const [jobId, other] = [randomUUID(), randomUUID()];
    const folder = await sandbox.folder(jobId);
    const first = sandbox.run(`${most}; touch ready; wait`, { jobId, signal: controller.signal }).catch(() => {});
    await vi.waitFor(async () => expect(await readdir(folder)).toContain('ready'), 30_000);
    const { output, stopped } = await sandbox.run(`{ ${most}; } 2>&1; echo done`, { jobId: other, timeoutMs: 20_000 });
    controller.abort();
    expect([stopped, output.head.toString()]).toEqual([null, 'done\n']);
    await first;
  });

  it('leaves nothing that a later or simultaneous job can find', { tags: 'slow' }, async () => {
    const orders = fc.shuffledSubarray(names, { minLength: names.length - 3 });
    const property = fc.asyncProperty(orders, fc.boolean(), async (chosen, isAtOnce) => {
      const at = randomUUID();
      const mark = `mark-${at}`;
      const first = said(`first-${at}`, `${leaving(chosen, mark)}\n${isAtOnce ? 'sleep 2' : ''}`);
      if (!isAtOnce) await first;
      const found = await said(`next-${at}`, `sleep 0.5\n${looking}`);
      // a lock on a file of the machine is visible as long as it is held
      const seen = isAtOnce ? found.replace('mark-lock', '') : found;
      expect(seen.split('\n').filter((line) => /mark-(?:ipc|lock)/.test(line) || line.includes(mark))).toEqual([]);
      await first;
    });
    await fc.assert(property, { numRuns: propertyRuns(3), endOnFailure: true });
  });
});
