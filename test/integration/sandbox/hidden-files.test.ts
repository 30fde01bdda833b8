import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountsWithSandbox, openTestSandbox, type TestSandbox } from '../../support/sandbox/sandbox.ts';

const { accounts } = await accountsWithSandbox();
const megabyte = 2 ** 20;
const hasPython = existsSync('/usr/bin/python3');

describe.runIf(accounts.length > 0).each(accounts)('the limit on what a command of an account hides: %s', (account) => {
  let sandbox: TestSandbox;
  beforeAll(async () => {
    sandbox = await openTestSandbox(account);
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());

  it.runIf(hasPython).each(['keeps open', 'maps', 'sends through a socket', 'leaves to a thread'])(
    'stops a command that fills the disk with files without a name, which it %s',
    async (way) => {
      const hold = {
        'keeps open': 'held.append(file)',
        maps: 'held.append(mmap.mmap(file, 8 << 20)); os.close(file)',
        'leaves to a thread': 'held.append(file)',
        'sends through a socket': 'socket.send_fds(one, [b"x"], [file]); os.close(file)',
      }[way];
      const first = way === 'leaves to a thread' ? 'ctypes.CDLL(None).pthread_exit(None)' : 'thread.join()';
      const script = `import ctypes, mmap, os, socket, threading, time
one, other = socket.socketpair(); held = []
def fill():
    for number in range(20):
        file = os.open("gone", os.O_RDWR | os.O_CREAT); os.unlink("gone"); os.write(file, b"x" * (8 << 20)); ${hold}
        time.sleep(0.1)
    time.sleep(20)
thread = threading.Thread(target=fill); thread.start(); ${first}`;
      expect(await sandbox.run(`python3 -c '${script}'`, { timeoutMs: 30_000 })).toMatchObject({ stopped: 'disk' });
    },
  );

  it.runIf(hasPython)('stops a command that fills the disk through sockets while others delete as much', async () => {
    const others = Array.from({ length: 20 }, (_, number) => `${sandbox.tree}.other-${number}`);
    for (const file of others) await writeFile(file, Buffer.alloc(10 * megabyte, 1));
    const fill = `import os, socket, time
one, other = socket.socketpair()
for number in range(10):
    file = os.open("gone", os.O_RDWR | os.O_CREAT); os.unlink("gone"); os.write(file, b"x" * (8 << 20))
    socket.send_fds(one, [b"x"], [file]); os.close(file); time.sleep(0.1)
time.sleep(40)`;
    const ending = sandbox.run(`python3 -c '${fill}'`, { timeoutMs: 40_000 });
    for (const file of others) {
      await rm(file);
      await sleep(50);
    }
    expect(await ending).toMatchObject({ stopped: 'disk' });
  });

  it('measures what a command hides below a name that is not UTF-8', async () => {
    const hide = `d=$(printf '\\377'); mkdir "$d"; for f in 1 2 3 4 5; do head -c 10M /dev/zero > "$d/$f"; done; sleep 20`;
    expect(await sandbox.run(hide)).toMatchObject({ stopped: 'disk' });
    await sandbox.output(`rm -r "$(printf '\\377')"`);
  });

  it('lets a command keep a small unnamed file', async () => {
    const keep = 'exec 3> gone; rm gone; head -c 8M /dev/zero >&3; sleep 1.5; echo fine';
    expect(await sandbox.run(keep)).toMatchObject({ exitCode: 0, stopped: null });
  });
});
