import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Attack } from '../stage/attack.ts';
import { startBeside } from '../stage/beside.ts';
import { diskProblem, inSandbox, onOwnDisk, sandboxProblem } from '../stage/in-sandbox.ts';
import type { Scene } from '../stage/scene.ts';
import { asWorker } from './commands.ts';

const needs = sandboxProblem;

/** Commands that add more to the tree than allowed; each prints `taken` once it has done so. */
const filling: [string, string, string][] = [
  [
    'empty files without end, which take places in the file system and no bytes',
    `node -e 'for (let i = 0; i < 20000; i++) fs.closeSync(fs.openSync(i + ".x", "w"))' && sleep 4 && echo taken`,
    'each file counts at least 1 KiB of what a command may write',
  ],
  [
    '200 MB in the tree',
    'for i in $(seq 20); do head -c 10000000 /dev/zero > big-$i; done && sleep 1 && echo taken',
    'the growth of the tree is measured',
  ],
];

/** Commands that use too much of another resource. */
const greedy: [string, string, string][] = [
  [
    '400 MB of memory',
    '[ "$(head -c 400000000 /dev/zero | tail | wc -c)" = 400000000 ] && echo taken',
    'a limit on memory',
  ],
  [
    '400 MB in pairs of sockets without a reader',
    `for i in 1 2 3 4; do perl -MSocket -e '
      for (1 .. 500) {
        socketpair my $a, my $b, AF_UNIX, SOCK_STREAM, 0; $a->blocking(0); push @held, $a, $b; 1 while syswrite $a, "x" x 65536
      } mkdir "full.$$"; select undef, undef, undef, 0.05 until 4 <= (() = glob "full.*"); sleep 1' & done; wait; echo taken`,
    'a limit on memory, which sockets count to',
  ],
  [
    '500 MB of page tables, for memory that is never written',
    `perl -e '
      my $mmap = \`uname -m\` =~ /x86/ ? 9 : 222;
      for (1 .. 4) {
        my $at = syscall $mmap, 0, 1 << 36, 1, 0x4022, -1, 0;
        for (my $i = 0; $i < 1 << 36; $i += 2 << 20) { unpack "P1", pack "Q", $at + $i }
      } sleep 1' && echo taken`,
    'a limit on memory, which page tables count to',
  ],
  [
    '200 processes at once',
    'for i in $(seq 200); do sleep 60 > /dev/null & done 2>/dev/null; [ "$(jobs -p | wc -l)" = 200 ] && echo taken; kill $(jobs -p)',
    'a limit on processes',
  ],
  [
    '200 MB in the folder for temporary files',
    'f=$(mktemp) && head -c 200000000 /dev/zero > "$f" && echo taken; rm -f "$f"',
    'a folder of limited size',
  ],
];

/** Where a limit is measured, a command may exceed it for a moment; what it wrote is not kept. */
const fillingAttacks = filling.flatMap(([what, command, contained]): Attack[] => {
  const shared = { class: 23, unprotected: async (scene: Scene) => (await asWorker(scene, command)).includes('taken') };
  return [
    {
      ...shared,
      name: what,
      product: async (scene) => (await inSandbox(scene, command)).exitCode === 0,
      contained,
      needs,
    },
    {
      ...shared,
      name: `${what}, on a disk of its job`,
      product: async () => (await onOwnDisk(command)).text.includes('taken'),
      contained: 'the kernel gives no more than the disk of the job has',
      needs: diskProblem,
    },
  ];
});

const greedyAttacks = greedy.map(([what, command, contained]): Attack => ({
  class: 23,
  name: what,
  unprotected: async (scene) => (await asWorker(scene, command)).includes('taken'),
  product: async (scene) => (await inSandbox(scene, command)).text.includes('taken'),
  contained,
  needs,
  // bash tries each process that it may not start again and again, for 15 seconds
  isSlow: command.includes('seq 200'),
}));

/** Some of them while all processors are busy and another process writes and deletes on the same disk. */
const besideAttacks = [...fillingAttacks, ...greedyAttacks.slice(0, 1)].map((attack): Attack => ({
  ...attack,
  name: `${attack.name}, on a busy machine`,
  isSlow: true,
  async product(scene) {
    using _beside = startBeside({ load: true, writer: true });
    return await attack.product(scene);
  },
}));

const outputs: Attack[] = [
  {
    class: 23,
    name: '60 MB of output',
    unprotected: async (scene) => (await asWorker(scene, "head -c 60000000 /dev/zero | tr '\\0' x")).length > 1_000_000,
    product: async (scene) => (await inSandbox(scene, "head -c 60000000 /dev/zero | tr '\\0' x")).text.length > 60_000,
    contained: 'head and tail of it are kept',
    needs,
  },
  {
    class: 23,
    name: 'escape sequences, NUL and invalid UTF-8 in the output',
    unprotected: async (scene) => (await asWorker(scene, odd)).includes('\u001b'),
    async product(scene) {
      const { text } = await inSandbox(scene, odd);
      return !text.includes('end') || ['\u001b', '\0', '\u0007'].some((character) => text.includes(character));
    },
    contained: 'output is cleaned before anybody reads it',
    needs,
  },
];

const odd = `printf '\\033[2J\\033]0;title\\007\\000\\377\\342\\200\\256end'`;

/** Processes that outlive the command and then leave a file. */
const lasting: [string, string][] = [
  ['setsid', `setsid sh -c 'sleep 1; touch late' > /dev/null 2>&1 & sleep 0.2`],
  ['a double fork', `(nohup sh -c 'sleep 1; touch late' > /dev/null 2>&1 &) ; sleep 0.2`],
];

const lastingAttacks = lasting.map(([what, command]): Attack => {
  const isThere = (scene: Scene) => existsSync(join(scene.tree, 'late'));
  return {
    class: 23,
    name: `a process that outlives its command (${what})`,
    async unprotected(scene) {
      await asWorker(scene, command);
      while (!isThere(scene)) await delay(50);
      return true;
    },
    async product(scene) {
      await inSandbox(scene, command);
      await delay(2_500);
      return isThere(scene);
    },
    contained: 'with the first process of its namespace all others end',
    needs,
  };
});

/** Commands that do not end; each writes its process id to `pid`. */
const stubborn: [string, string][] = [
  ['that takes no notice of signals', `trap '' TERM INT HUP QUIT; echo $$ > pid; for i in $(seq 60); do sleep 1; done`],
  [
    'that stops its parent',
    `trap '' TERM; echo $$ > pid; kill -STOP $PPID 2>/dev/null; for i in $(seq 60); do sleep 1; done`,
  ],
  [
    'behind a pipe whose reader has gone',
    `trap '' TERM PIPE; echo $$ > pid; (for i in $(seq 60); do sleep 1; done) | true; sleep 60`,
  ],
];

const stubbornAttacks = stubborn.map(([what, command]): Attack => ({
  class: 25,
  name: `a process ${what}`,
  async unprotected(scene) {
    // ended by a signal, as execFile's own timeout does it
    const settings = { cwd: scene.tree, stdio: 'ignore', detached: true } as const;
    const child = spawn('bash', ['-c', 'bash -c "$1"; true', 'bash', command], settings);
    scene.defer(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'));
    while (!existsSync(join(scene.tree, 'pid'))) await delay(20);
    child.kill('SIGTERM');
    await delay(300);
    const pid = Number(await readFile(join(scene.tree, 'pid'), 'utf8'));
    return isAlive(pid);
  },
  async product(scene) {
    const ended = inSandbox(scene, command, { timeoutMs: 1_000 });
    const end = await Promise.race([ended, delay(30_000, null)]);
    return end === null || end.exitCode === 0;
  },
  contained: 'SIGKILL to the first process of the namespace, by the worker itself',
  needs,
}));

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export const processAttacks: Attack[] = [
  ...fillingAttacks,
  ...greedyAttacks,
  ...besideAttacks,
  ...outputs,
  ...lastingAttacks,
  ...stubbornAttacks,
];
