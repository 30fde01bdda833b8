import { execFile } from 'node:child_process';
import { chmod, lstat, mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { installPackages } from '../../../../activities/environment/install-packages.ts';
import { openSandbox } from '../../../../activities/sandbox/open-sandbox.ts';
import { createEgress } from '../../../../lib/network/egress.ts';
import { openPackageImages, packageImage } from '../../../support/sandbox/package-image.ts';
import type { Attack } from '../stage/attack.ts';
import { attackLimits, sandboxProblem } from '../stage/in-sandbox.ts';
import { carelessly, type Scene } from '../stage/scene.ts';
import { testEngine } from '../../../support/sandbox/engine.ts';

interface PackageAttack {
  name: string;
  /** Script of a package; `root` is the folder of the image on the machine, or "" within it. */
  script(scene: Scene, port: number, root: string): string;
  reached(scene: Scene, seen: { output: string; root: string; hits: string[] }): Promise<boolean>;
  contained: string;
}

const execute = promisify(execFile);
const signal = AbortSignal.timeout(120_000);
const byMounts = 'an installer sees the copy of the image and no other file of the machine';

const attacks: PackageAttack[] = [
  {
    name: 'a package that reads a file of the worker',
    script: ({ secretFile }) => `cat ${secretFile} /proc/1/root${secretFile} || true`,
    reached: async ({ canary }, { output }) => output.includes(canary),
    contained: byMounts,
  },
  {
    name: 'a package that writes a file of the worker',
    script: ({ secretFile }) => `echo taken > ${secretFile} || true`,
    reached: (scene) => scene.isChanged(),
    contained: byMounts,
  },
  {
    name: 'a package that asks a server of this machine',
    script: (_scene, port) => `curl -s --max-time 5 http://127.0.0.1:${port}/ http://listed.test:${port}/ || true`,
    reached: async (_scene, { hits }) => hits.length > 0,
    contained: 'an installer has the network of a setup',
  },
  {
    name: 'a program with the rights of its owner, left for the agent',
    script: (_scene, _port, root) => `cp /bin/id ${root}/opt/root && chmod 4755 ${root}/opt/root`,
    reached: async (_scene, { root }) => ((await lstat(join(root, 'opt/root'))).mode & 0o4000) !== 0,
    contained: 'modes are set anew once the installer has ended',
  },
  {
    name: 'a link to a folder of the worker, whose modes are set with those of the image',
    script: ({ secretFile }, _port, root) => `rm -r ${root}/opt && ln -s ${dirname(secretFile)} ${root}/opt`,
    reached: async ({ secretFile }) => ((await stat(secretFile)).mode & 0o077) !== 0,
    contained: 'no link is followed when modes are set',
  },
];

/** Installs the package as a worker does. */
async function install(scene: Scene, script: string): Promise<{ output: string; root: string }> {
  const network = {
    hosts: ['listed.test'],
    egress: createEgress({ privateHosts: [], resolve: async () => ['127.0.0.1'] }),
  };
  const { sandbox, problem } = await openSandbox({
    engine: testEngine,
    directory: join(scene.directory, 'sandbox'),
    limits: attackLimits,
    network,
  });
  if (sandbox === null) throw new Error(problem);
  const packages = { evil: `mkdir -p /opt; ${script}; echo installed` };
  const images = await openPackageImages(scene.directory, packages, ['/usr/bin/curl']);
  const root = await images.provide(packageImage, signal);
  let output = '';
  const made = await images.extend(root, ['evil'], {
    signal,
    async install(tree, { addedBytes, totalBytes }) {
      const limits = { ...attackLimits, diskBytes: addedBytes, totalBytes };
      const environment = { root, hosts: network.hosts, limits };
      const live = { push() {}, end: () => Promise.resolve() };
      const call = {
        jobId: `attack-${process.pid}`,
        tree,
        packages: ['evil'],
        timeoutMs: 20_000,
        environment,
        signal,
        live,
      };
      const end = await installPackages(sandbox, call);
      output = end.output.head.toString();
      if (!output.includes('installed')) throw new Error(output);
    },
  });
  return { output, root: made.directory };
}

export const packageAttacks: Attack[] = attacks.map(({ name, script, reached, contained }) => ({
  class: 40,
  name,
  needs: sandboxProblem,
  isSlow: true,
  async unprotected(scene) {
    const { port, hits } = await scene.server();
    const root = join(scene.directory, 'careless');
    await mkdir(join(root, 'opt'), { recursive: true });
    await chmod(scene.secretFile, 0o600);
    const output = await carelessly('sh', ['-c', script(scene, port, root)], { cwd: root, env: {} });
    await execute('sh', ['-c', 'for at in "$1"/*; do chmod -R go=rX "$at"; done', 'seal', root]);
    return reached(scene, { output, root, hits });
  },
  async product(scene) {
    const { port, hits } = await scene.server();
    await chmod(scene.secretFile, 0o600);
    return reached(scene, { ...(await install(scene, script(scene, port, ''))), hits });
  },
  contained,
}));
