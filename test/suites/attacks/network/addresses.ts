import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { request } from 'node:http';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createEgress } from '../../../../lib/network/egress.ts';
import { createTestGit } from '../../../support/git.ts';
import type { Resolve } from '../../../../lib/network/public-lookup.ts';
import type { Attack } from '../stage/attack.ts';
import { openAsJob } from '../stage/open-as-job.ts';
import { answered, carelessly, type Scene } from '../stage/scene.ts';

const { signal } = new AbortController();

/** Ways to write an address of this machine. */
const forms = [
  '127.0.0.1',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '127.1',
  '0',
  'localhost',
  'LOCALHOST',
  '127。0。0。1',
  'ⓛocalhost',
];

async function fetches(url: string, canary: string): Promise<boolean> {
  return (await (await fetch(url)).text()).includes(canary);
}

const asRepository = forms.map((form): Attack => ({
  class: 5,
  name: `${form} as the host of a repository`,
  unprotected: async (scene) => fetches(`http://${form}:${(await scene.server()).port}/a/b`, scene.canary),
  async product(scene) {
    const { port, hits } = await scene.server();
    for (const scheme of ['http', 'https']) await openAsJob(scene, `${scheme}://${form}:${port}/a/b`);
    return hits.length > 0;
  },
  contained: 'https to allowed hosts only',
}));

const asForge = forms.map((form): Attack => ({
  class: 5,
  name: `${form} as the address of a forge`,
  unprotected: async (scene) => fetches(`http://${form}:${(await scene.server()).port}/api`, scene.canary),
  async product(scene) {
    const { port, hits } = await scene.server();
    await answered(createEgress().fetch(`http://${form}:${port}/api`));
    return hits.length > 0;
  },
  contained: 'an address in a private network is not connected to',
}));

const dnsOf =
  (addresses: string[]): Resolve =>
  (_, done) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

function fetchBy(resolve: Resolve, port: number): Promise<string> {
  return new Promise((done, fail) => {
    const lookup = (name: string, _: object, answer: (error: Error | null, found: object[]) => void) =>
      resolve(name, (error, found) => answer(error, found));
    request(`http://name.test:${port}/`, { lookup: lookup as never, agent: false }, (response) => {
      let text = '';
      response.on('data', (piece) => (text += String(piece))).on('end', () => done(text));
    })
      .on('error', fail)
      .end();
  });
}

const byName = [['127.0.0.1'], ['::1'], ['::ffff:127.0.0.1'], ['127.8.8.8'], ['127.0.0.1', '93.184.216.34']].map(
  (addresses): Attack => ({
    class: 5,
    name: `a name that leads to ${addresses.join(' and ')}`,
    unprotected: async (scene) => (await fetchBy(dnsOf(addresses), (await scene.server()).port)).includes(scene.canary),
    async product(scene) {
      const { port, hits } = await scene.server();
      const egress = createEgress({ resolve: dnsOf(addresses) });
      await answered(egress.fetch(`http://name.test:${port}/`));
      await lists(scene, `http://name.test:${port}/a/b`, egress);
      return hits.length > 0;
    },
    contained: 'every address of a name is checked before one is connected to',
  }),
);

async function lists(scene: Scene, remote: string, egress = createEgress(), gitBinary = 'git') {
  const git = createTestGit({ gitBinary, home: join(scene.directory, 'home'), transports: ['http', 'https'], egress });
  const call = { gitDir: scene.directory, args: ['ls-remote', remote], transports: ['http', 'https'] as const };
  return await answered(git.run({ ...call, remote, signal }));
}

/** A DNS server that returns a public address to the check and a private one to the connection. */
function rebinding(): { resolve: Resolve; count(): number } {
  let asked = 0;
  return {
    resolve(name, done) {
      asked += 1;
      dnsOf([asked === 1 ? '93.184.216.34' : '127.0.0.1'])(name, done);
    },
    count: () => asked,
  };
}

const overTime: Attack[] = [
  {
    class: 5,
    name: 'a name that is public when it is checked and private when git connects (DNS rebinding)',
    async unprotected(scene) {
      const { port } = await scene.server();
      const { resolve } = rebinding();
      await new Promise<void>((done) => resolve('name.test', () => done())); // the check
      return (await fetchBy(resolve, port)).includes(scene.canary);
    },
    async product(scene) {
      const { resolve, count } = rebinding();
      // stands for git: resolves the name again unless it was given an address
      const asking = join(scene.directory, 'asking-git');
      const pinned = 'http.curloptResolve=name.test:443:93.184.216.34';
      await writeFile(
        asking,
        `#!/bin/sh\ncase "$*" in version) echo git version 2.50.0;; *"${pinned}"*) ;; *) touch ${scene.mark};; esac\n`,
      );
      await chmod(asking, 0o755);
      await lists(scene, 'https://name.test/a/b', createEgress({ resolve }), asking);
      return scene.ran() || count() !== 1;
    },
    contained: 'git gets the addresses that were checked (http.curloptResolve)',
  },
  ...(['git', 'a forge'] as const).map((who): Attack => ({
    class: 5,
    name: `a redirect of ${who} to a private host`,
    async unprotected(scene) {
      const target = await scene.server();
      const source = await redirectTo(scene, target.port);
      if (who === 'a forge') return fetches(`http://127.0.0.1:${source}/`, scene.canary);
      const url = `http://127.0.0.1:${source}/a/b`;
      await carelessly('git', ['-c', 'http.followRedirects=true', 'ls-remote', url], { cwd: scene.directory });
      return target.hits.length > 0;
    },
    async product(scene) {
      const target = await scene.server();
      const source = await redirectTo(scene, target.port);
      const egress = createEgress({ privateHosts: [`127.0.0.1:${source}`] });
      if (who === 'git') await lists(scene, `http://127.0.0.1:${source}/a/b`, egress);
      else await answered(egress.fetch(`http://127.0.0.1:${source}/`));
      return target.hits.length > 0;
    },
    contained: 'redirects are not followed',
  })),
  {
    class: 5,
    name: 'a repository that sends git to another host for its objects (http-alternates)',
    async unprotected(scene) {
      const target = await scene.server();
      const source = await dumbRepository(scene, target.port);
      const args = ['-c', 'http.followRedirects=true', 'clone', `http://127.0.0.1:${source}/r.git`, 'cloned'];
      await carelessly('git', args, { cwd: scene.directory });
      return target.hits.length > 0;
    },
    async product(scene) {
      const target = await scene.server();
      const source = await dumbRepository(scene, target.port);
      const url = `http://127.0.0.1:${source}/r.git`;
      const egress = createEgress({ privateHosts: [`127.0.0.1:${source}`] });
      const git = createTestGit({ home: join(scene.directory, 'home'), transports: ['http'], egress });
      const gitDir = join(scene.directory, 'mirror');
      await mkdir(gitDir);
      await git.run({ gitDir, args: ['init', '--bare', '--quiet'], signal });
      const fetched = { gitDir, args: ['fetch', url, 'refs/heads/main'], transports: ['http'] as const, remote: url };
      await answered(git.run({ ...fetched, signal }));
      return target.hits.length > 0;
    },
    contained: 'alternates of a server are not followed',
  },
];

async function listen(scene: Scene, answer: (path: string) => { status: number; location?: string; text?: string }) {
  const server = createServer((request, response) => {
    const { status, location, text = '' } = answer(request.url ?? '');
    response.writeHead(status, location === undefined ? {} : { location }).end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  scene.defer(() => server.close());
  return (server.address() as AddressInfo).port;
}

function redirectTo(scene: Scene, port: number): Promise<number> {
  return listen(scene, (path) => ({ status: 302, location: `http://127.0.0.1:${port}${path}` }));
}

function dumbRepository(scene: Scene, port: number): Promise<number> {
  const commit = '1'.repeat(40);
  return listen(scene, (path) => {
    if (path.startsWith('/r.git/info/refs')) return { status: 200, text: `${commit}\trefs/heads/main\n` };
    if (path === '/r.git/HEAD') return { status: 200, text: 'ref: refs/heads/main\n' };
    if (path.endsWith('alternates')) return { status: 200, text: `http://127.0.0.1:${port}/other.git/objects\n` };
    return { status: 404 };
  });
}

export const addressAttacks: Attack[] = [...asRepository, ...asForge, ...byName, ...overTime];
