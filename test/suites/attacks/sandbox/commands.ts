import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ownProcessors } from '../../../../activities/sandbox/processors.ts';
import type { Attack } from '../stage/attack.ts';
import { attackLimits, inSandbox, sandboxProblem } from '../stage/in-sandbox.ts';
import { carelessly, type Scene } from '../stage/scene.ts';

const isRoot = process.getuid?.() === 0;
const needs = sandboxProblem;
const rootOnly = needs ?? (isRoot ? null : 'root');

/** Runs the command as a careless worker does: in the tree, with everything that the worker has. */
export function asWorker(scene: Scene, command: string, env: Record<string, string> = {}): Promise<string> {
  return carelessly('bash', ['-c', command], { cwd: scene.tree, env });
}

/** Runs it in a fake sandbox: the whole machine, although read-only, and root's own capabilities. */
function inWeakSandbox(scene: Scene, command: string): Promise<string> {
  const flags = ['--unshare-all', '--ro-bind', '/', '/', '--dev', '/dev', '--bind', scene.tree, scene.tree];
  return carelessly('bwrap', [...flags, '--chdir', scene.tree, '--', 'bash', '-c', command], { cwd: scene.tree });
}

async function says(scene: Scene, command: string, sought: string): Promise<boolean> {
  return (await inSandbox(scene, command)).text.includes(sought);
}

interface Reading {
  class: number;
  name: string;
  command(scene: Scene): string;
  contained: string;
}

/** Commands that print the canary if they can. */
const readings: Reading[] = [
  {
    class: 20,
    name: 'a command that reads a file of the worker',
    command: ({ secretFile }) => `cat ${secretFile}`,
    contained: 'the sandbox holds the tree, /usr and nothing else',
  },
  {
    class: 20,
    name: 'a command that reads the environments of all processes',
    command: () => 'cat /proc/*/environ',
    contained: 'a process namespace of its own, and an environment of its own',
  },
  {
    class: 24,
    name: 'the root of another process (/proc/$PPID/root)',
    command: ({ secretFile }) => `cat /proc/$PPID/root${secretFile} /proc/1/root${secretFile}`,
    contained: 'all processes it sees are the sandbox’s own',
  },
  {
    class: 24,
    name: '/proc/self/cwd/.. and further up',
    command: () => 'cat /proc/self/cwd/../outside/secret.txt ../outside/secret.txt',
    contained: 'only the tree is mounted',
  },
];

const readAttacks = readings.map(({ command, ...attack }): Attack => ({
  ...attack,
  async unprotected(scene) {
    beside(scene);
    return (await asWorker(scene, command(scene))).includes(scene.canary);
  },
  async product(scene) {
    beside(scene);
    return await says(scene, command(scene), scene.canary);
  },
  needs,
}));

/** A process of the worker that has the canary in its environment. */
function beside(scene: Scene): void {
  const child = spawn('sleep', ['60'], { env: { SECRET: scene.canary, PATH: process.env['PATH'] }, stdio: 'ignore' });
  scene.defer(() => child.kill('SIGKILL'));
}

const inherited: [string, number, string, (scene: Scene) => Record<string, string>][] = [
  ['the environment of the worker', 20, 'env', ({ canary }) => ({ OPENAI_API_KEY: canary })],
  [
    'BASH_ENV of the worker, which a shell runs',
    24,
    'bash -c true; true',
    ({ secretFile }) => ({ BASH_ENV: secretFile }),
  ],
];

const environments = inherited.map(([name, number, command, envOf]): Attack => {
  const prepare = (scene: Scene) => writeFile(scene.secretFile, `echo ${scene.canary}\n`);
  return {
    class: number,
    name,
    async unprotected(scene) {
      await prepare(scene);
      return (await asWorker(scene, command, envOf(scene))).includes(scene.canary);
    },
    async product(scene) {
      await prepare(scene);
      const env = envOf(scene);
      Object.assign(process.env, env);
      try {
        return await says(scene, command, scene.canary);
      } finally {
        for (const variable of Object.keys(env)) Reflect.deleteProperty(process.env, variable);
      }
    },
    contained: 'commands get an environment of their own',
    needs,
  };
});

/** Servers of the machine that a command tries to reach. */
const sends: [string, (scene: Scene) => Promise<{ command: string; isTold(): boolean }>][] = [
  [
    'a connection to a server of this machine',
    async (scene) => {
      const { port, hits } = await scene.server();
      const command = `exec 3<>/dev/tcp/127.0.0.1/${port}; printf 'GET /leak HTTP/1.0\\r\\n\\r\\n' >&3; head -1 <&3`;
      return { command, isTold: () => hits.length > 0 };
    },
  ],
  [
    'a datagram, as a question to the DNS is one',
    async (scene) => {
      let isTold = false;
      const socket = createSocket('udp4', () => (isTold = true)).bind(0, '127.0.0.1');
      await once(socket, 'listening');
      scene.defer(() => socket.close());
      return { command: `echo leak > /dev/udp/127.0.0.1/${socket.address().port}`, isTold: () => isTold };
    },
  ],
  ...(['a socket in the file system', 'an abstract socket'] as const).map((what): (typeof sends)[number] => [
    what,
    async (scene) => {
      let isTold = false;
      const server = createServer((connection) => {
        isTold = true;
        connection.destroy();
      });
      const path = what === 'an abstract socket' ? `\0docket-${randomUUID()}` : join(scene.directory, 'socket');
      await once(server.listen(path), 'listening');
      scene.defer(() => server.close());
      const script = `require("net").connect(${JSON.stringify(path)}).on("error",()=>{}).on("close",()=>process.exit())`;
      return { command: `node -e '${script}'`, isTold: () => isTold };
    },
  ]),
  [
    'a push to a repository of this machine',
    async (scene) => {
      const { path } = await scene.repository();
      const identity = '-c user.name=a -c user.email=a@b.c -c safe.directory=*';
      const command = `git init -q x && cd x && git ${identity} commit -q --allow-empty -m x && git ${identity} push -q ${path} HEAD:refs/heads/leak; true`;
      return { command, isTold: () => existsSync(join(path, 'refs/heads/leak')) };
    },
  ],
];

const sendAttacks = sends.map(([name, prepare]): Attack => ({
  class: 22,
  name,
  async unprotected(scene) {
    const { command, isTold } = await prepare(scene);
    await asWorker(scene, command);
    while (!isTold()) await delay(20);
    return true;
  },
  async product(scene) {
    const { command, isTold } = await prepare(scene);
    await inSandbox(scene, command);
    await delay(100);
    return isTold();
  },
  contained: 'no network and no sockets but those of a network of its own; no path to a repository',
  needs,
}));

/** Ways to escape; each leaves or prints what it achieved. */
const walls: [string, (scene: Scene) => string][] = [
  ['the system mounted anew so that it can be written', ({ mark }) => `mount -o remount,rw,bind / / && touch ${mark}`],
  ['a file system mounted over /usr', () => 'mount -t tmpfs none /mnt && echo broken'],
  ['a user namespace of its own', () => 'unshare -Urm true && echo broken'],
  ['a device made in the tree', () => 'mknod zero c 1 5 && head -c 1 zero > /dev/null && echo broken'],
];

const wallAttacks = walls.map(([name, command]): Attack => ({
  class: 24,
  name,
  async unprotected(scene) {
    const run = /^(?:a device|a user namespace)/.test(name) ? asWorker : inWeakSandbox;
    return (await run(scene, command(scene))).includes('broken') || scene.ran();
  },
  product: async (scene) => (await says(scene, command(scene), 'broken')) || scene.ran(),
  contained: 'no capability, no new namespaces, a filter on system calls',
  needs: rootOnly,
}));

/** Binds the shell to all processors of the worker. */
const widen = `taskset -cp ${ownProcessors().join(',')} $$; [ $(nproc) -gt 1 ] && echo broken`;

const processors: Attack = {
  class: 24,
  name: 'more processors than the command may use (sched_setaffinity)',
  async unprotected(scene) {
    return (await asWorker(scene, `taskset -c ${ownProcessors()[0]} bash -c '${widen}'`)).includes('broken');
  },
  async product(scene) {
    const environment = { limits: { ...attackLimits, cpus: 1 } };
    return (await inSandbox(scene, widen, { environment })).text.includes('broken');
  },
  contained: 'the processors are set outside, and the call is refused',
  needs: needs ?? (ownProcessors().length > 1 ? null : 'two processors'),
};

const tools: Attack = {
  class: 24,
  name: 'a tool of the machine overwritten (/usr/local/bin)',
  async unprotected(scene) {
    return await overwrites(scene, (command) => asWorker(scene, command));
  },
  async product(scene) {
    return await overwrites(scene, (command) => inSandbox(scene, command));
  },
  contained: 'the system is read-only',
  needs: rootOnly,
};

async function overwrites(scene: Scene, run: (command: string) => Promise<unknown>): Promise<boolean> {
  const tool = `/usr/local/bin/docket-attack-${randomUUID()}`;
  scene.defer(() => rm(tool, { force: true }));
  await run(`echo evil > ${tool}`);
  return existsSync(tool);
}

export const commandAttacks: Attack[] = [
  ...readAttacks,
  ...environments,
  ...sendAttacks,
  ...wallAttacks,
  processors,
  tools,
];
