import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createEgress } from '../../../../lib/network/egress.ts';
import { createTestGit } from '../../../support/git.ts';
import type { SshCredential } from '../../../../activities/git/ssh-session.ts';
import { createWorkspaces } from '../../../../activities/workspaces/workspaces.ts';
import { hasSsh } from '../../../support/ssh/has-ssh.ts';
import { createKeyPair, startSshServer, type KeyPair, type SshServer } from '../../../support/ssh/ssh-server.ts';
import type { Attack } from '../stage/attack.ts';
import { openAsJob } from '../stage/open-as-job.ts';
import { answered, carelessly, type Scene } from '../stage/scene.ts';

interface Stage {
  server: SshServer;
  key: KeyPair;
  /** The private key, for programs that read it from a file. */
  keyFile: string;
  url: string;
}

/** A repository server whose only file contains the canary. */
async function stage(scene: Scene): Promise<Stage> {
  const key = createKeyPair();
  const server = await startSshServer({ authorizedKeys: [key.public] });
  scene.defer(() => server[Symbol.asyncDispose]());
  const { path } = await scene.repository({ 'secret.txt': scene.canary });
  server.add('a/b', path);
  const keyFile = join(scene.directory, 'key');
  await writeFile(keyFile, key.private, { mode: 0o600 });
  return { server, key, keyFile, url: server.url('a/b') };
}

async function clones(scene: Scene, url: string, env: Record<string, string>): Promise<boolean> {
  await carelessly('git', ['clone', url, 'cloned'], { cwd: scene.directory, env });
  const text = await readFile(join(scene.directory, 'cloned/secret.txt'), 'utf8').catch(() => '');
  return text.includes(scene.canary);
}

const trusting = 'ssh -F /dev/null -o UserKnownHostsFile=/dev/null -o StrictHostKeyChecking=no';

/** Reads a repository as Docket does once its address is accepted. */
async function reads(
  scene: Scene,
  { url, shown, privateHosts = ['127.0.0.1'] }: { url: string; shown: SshCredential; privateHosts?: string[] },
): Promise<boolean> {
  const git = createTestGit({ home: join(scene.directory, 'home'), egress: createEgress({ privateHosts }) });
  const workspaces = createWorkspaces({ git, directory: join(scene.directory, 'work') });
  const access = {
    organizationId: 'org_test',
    repository: url,
    credential: shown,
    signal: AbortSignal.timeout(60_000),
  };
  const resolved = await answered(workspaces.resolve({ ...access, ref: null }));
  if (resolved === null) return false;
  const file = await workspaces.readFile({ ...access, commit: resolved.commit, path: 'secret.txt', maxBytes: 10_000 });
  return file?.includes(scene.canary) === true;
}

/** Runs something while this process has additional variables. */
async function withVariables<Result>(variables: Record<string, string>, work: () => Promise<Result>): Promise<Result> {
  const before = { ...process.env };
  Object.assign(process.env, variables);
  try {
    return await work();
  } finally {
    process.env = before;
  }
}

/** An ssh agent of the worker's user, with a key that the server accepts. */
async function agentWith(scene: Scene, keyFile: string): Promise<string> {
  const socket = join(scene.directory, 'agent');
  const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: ['ignore', 'pipe', 'ignore'] });
  scene.defer(() => agent.kill());
  await once(agent.stdout, 'data');
  await carelessly('ssh-add', [keyFile], { cwd: scene.directory, env: { SSH_AUTH_SOCK: socket } });
  return socket;
}

const servers: Attack[] = [
  {
    class: 39,
    name: 'another server in the place of the known one',
    async unprotected(scene) {
      const { url, keyFile } = await stage(scene);
      return clones(scene, url, { GIT_SSH_COMMAND: `${trusting} -i ${keyFile}` });
    },
    async product(scene) {
      const { url, key, server } = await stage(scene);
      const other = await stage(scene);
      const [, ...known] = other.server.hostKey.split(' ');
      const knownHosts = [`[127.0.0.1]:${server.port} ${known.join(' ')}`];
      return reads(scene, { url, shown: { privateKey: key.private, knownHosts } });
    },
    contained: 'a server that shows another host key is not spoken to',
  },
  {
    class: 39,
    name: 'a server that is trusted at first sight',
    async unprotected(scene) {
      const { url, keyFile } = await stage(scene);
      const accepting = trusting.replace('StrictHostKeyChecking=no', 'StrictHostKeyChecking=accept-new');
      return clones(scene, url, { GIT_SSH_COMMAND: `${accepting} -i ${keyFile}` });
    },
    async product(scene) {
      const { url, key } = await stage(scene);
      return reads(scene, { url, shown: { privateKey: key.private, knownHosts: [] } });
    },
    contained: 'a project names the host keys of its servers before it reaches them',
  },
  {
    class: 39,
    name: 'a private address',
    async unprotected(scene) {
      const { url, keyFile } = await stage(scene);
      return clones(scene, url, { GIT_SSH_COMMAND: `${trusting} -i ${keyFile}` });
    },
    async product(scene) {
      const { url, key, server } = await stage(scene);
      const shown = { privateKey: key.private, knownHosts: [server.hostKey] };
      return reads(scene, { url, shown, privateHosts: [] });
    },
    contained: 'addresses are checked after DNS, and the connection goes to what was checked',
  },
];

const surroundings: Attack[] = [
  {
    class: 39,
    name: 'a key in the agent of the worker’s user',
    async unprotected(scene) {
      const { url, keyFile } = await stage(scene);
      const socket = await agentWith(scene, keyFile);
      return clones(scene, url, { GIT_SSH_COMMAND: trusting, SSH_AUTH_SOCK: socket });
    },
    async product(scene) {
      const { url, keyFile, server } = await stage(scene);
      const socket = await agentWith(scene, keyFile);
      const shown = { privateKey: createKeyPair().private, knownHosts: [server.hostKey] };
      return withVariables({ SSH_AUTH_SOCK: socket }, () => reads(scene, { url, shown }));
    },
    contained: 'ssh is shown the key of the project and no agent',
  },
  {
    class: 39,
    name: 'a ProxyCommand in the configuration of the worker’s user',
    async unprotected(scene) {
      const config = join(scene.directory, 'config');
      await writeFile(config, `ProxyCommand touch ${scene.mark}\n`);
      await clones(scene, 'ssh://git@127.0.0.1:9/a/b', { GIT_SSH_COMMAND: `ssh -F ${config}` });
      return scene.ran();
    },
    async product(scene) {
      const { url, key, server } = await stage(scene);
      const config = join(scene.directory, 'config');
      await writeFile(config, `ProxyCommand touch ${scene.mark}\n`);
      const shown = { privateKey: key.private, knownHosts: [server.hostKey] };
      await withVariables({ GIT_SSH_COMMAND: `ssh -F ${config}` }, () => reads(scene, { url, shown }));
      return scene.ran();
    },
    contained: 'ssh has a configuration of its own, and git inherits nothing of the environment',
  },
];

const options = [
  'ssh://-oProxyCommand=touch MARK/a/b',
  'ssh://git@-oProxyCommand=touch MARK/a/b',
  'ssh://-oProxyCommand=touch MARK@allowed.test/a/b',
  '-oProxyCommand=touch MARK@allowed.test:a/b',
  'git@-oProxyCommand=touch MARK:a/b',
  'git@allowed.test -oProxyCommand=touch MARK:a/b',
].map((template): Attack => ({
  class: 39,
  name: template,
  async unprotected(scene) {
    const option = `-oProxyCommand=touch ${scene.mark}`;
    await carelessly('ssh', [option, 'allowed.test', 'git-upload-pack a/b'], { cwd: scene.directory });
    return scene.ran();
  },
  async product(scene) {
    const credential = { privateKey: createKeyPair().private, knownHosts: [] };
    await openAsJob(scene, template.replace('MARK', scene.mark), { credential });
    return scene.ran();
  },
  contained: 'user and host are read by one strict grammar and compared as a whole',
}));

const needs = hasSsh ? null : "OpenSSH's client";

export const sshAttacks: Attack[] = [...servers, ...surroundings, ...options].map((attack) => ({ ...attack, needs }));
