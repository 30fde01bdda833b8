import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Attack } from '../stage/attack.ts';
import { localRootOf, openAsJob } from '../stage/open-as-job.ts';
import { carelessly, type Scene } from '../stage/scene.ts';

/** A repository that jobs may open, a foreign one with the canary, and folders around them. */
async function neighbours(scene: Scene): Promise<{ own: string; other: string; root: string }> {
  const root = localRootOf(scene);
  await mkdir(root);
  const own = await scene.repository({ 'README.md': 'own' }, { path: join(root, 'own.git') });
  const other = await scene.repository({ 'secret.txt': scene.canary }, { path: join(scene.directory, 'other.git') });
  await symlink(scene.directory, join(root, 'link'));
  return { own: own.path, other: other.path, root };
}

/** Fills in the placeholders of a template. */
function fill(template: string, scene: Scene): string {
  return template
    .replaceAll('MARK', scene.mark)
    .replaceAll('DIR', scene.directory)
    .replaceAll('ROOT', localRootOf(scene));
}

async function refused(scene: Scene, repository: string, ref: string | null = null): Promise<boolean> {
  await neighbours(scene);
  const read = await openAsJob(scene, repository, { ref });
  return scene.ran() || read?.includes(scene.canary) === true;
}

const commands = ['ext::touch MARK', 'ext::sh -c touch% MARK', 'ext::/usr/bin/env touch MARK %S'].map(
  (template): Attack => ({
    class: 1,
    name: template,
    async unprotected(scene) {
      const args = ['-c', 'protocol.ext.allow=always', 'ls-remote', fill(template, scene)];
      await carelessly('git', args, { cwd: scene.directory });
      return scene.ran();
    },
    product: (scene) => refused(scene, fill(template, scene)),
    contained: 'only https addresses and paths below the root are repositories; no other transport is open in git',
  }),
);

const options: Attack[] = [
  ...['--upload-pack=touch MARK;', '--exec=touch MARK;'].map((template): Attack => ({
    class: 2,
    name: `${template} as URL`,
    async unprotected(scene) {
      const { own } = await neighbours(scene);
      await carelessly('git', ['ls-remote', fill(template, scene), own], { cwd: scene.directory });
      return scene.ran();
    },
    product: (scene) => refused(scene, fill(template, scene)),
    contained: 'not an address of a repository',
  })),
  {
    class: 2,
    name: '-u<command> as URL of a clone',
    async unprotected(scene) {
      const { own } = await neighbours(scene);
      await carelessly('git', ['clone', '--no-local', `-utouch ${scene.mark};`, own, 'x'], { cwd: scene.directory });
      return scene.ran();
    },
    product: (scene) => refused(scene, `-utouch ${scene.mark};`),
    contained: 'not an address of a repository',
  },
  {
    class: 2,
    name: '--upload-pack=<command> as ref',
    async unprotected(scene) {
      const { own } = await neighbours(scene);
      const ref = `--upload-pack=touch ${scene.mark};`;
      await carelessly('git', ['--git-dir', own, 'fetch', own, ref], { cwd: scene.directory });
      return scene.ran();
    },
    product: (scene) => refused(scene, join(localRootOf(scene), 'own.git'), `--upload-pack=touch ${scene.mark};`),
    contained: 'a ref is sent to git as refs/heads/… only',
  },
];

const configurations = [
  '-c protocol.ext.allow=always ext::touch%20MARK',
  '-c Protocol.ext.Allow=always ext::touch%20MARK',
  '-cPROTOCOL.ALLOW=always ext::touch%20MARK',
  '--config protocol.ext.allow=always ext::touch%20MARK',
  '--config=Protocol.Allow=always ext::touch%20MARK',
  '--template=DIR/template ROOT/own.git',
].map((template): Attack => ({
  class: 3,
  name: template,
  async unprotected(scene) {
    await neighbours(scene);
    await mkdir(join(scene.directory, 'template/hooks'), { recursive: true });
    const hook = join(scene.directory, 'template/hooks/post-checkout');
    await writeFile(hook, `#!/bin/sh\ntouch ${scene.mark}\n`);
    await chmod(hook, 0o755);
    const text = fill(template, scene)
      .replace('%20', "' '")
      .replaceAll(/ext::(\S+)' '(\S+)/g, "'ext::$1 $2'");
    await carelessly('sh', ['-c', `git clone ${text} cloned`], { cwd: scene.directory });
    return scene.ran();
  },
  product: (scene) => refused(scene, fill(template, scene).replace('%20', ' ')),
  contained: 'not an address of a repository; git takes no option from it',
}));

const neighboursOf = [
  ['file://DIR/other.git', 'only https addresses and plain paths'],
  ['DIR/other.git', 'outside the root'],
  ['ROOT/../other.git', 'no ".." in a path'],
  ['ROOT/./../other.git', 'no "." in a path'],
  ['ROOT//../other.git', 'no "//" in a path'],
  ['ROOT/link/other.git', 'the place behind links is compared with the root'],
  ['other.git', 'no relative path'],
  ['./other.git', 'no relative path'],
  ['../tree/../other.git', 'no relative path'],
].map(([template = '', contained = '']): Attack => ({
  class: 4,
  name: template,
  async unprotected(scene) {
    await neighbours(scene);
    const cwd = template.startsWith('../') ? scene.tree : scene.directory;
    await carelessly('git', ['clone', fill(template, scene), join(scene.directory, 'cloned')], { cwd });
    const found = await readFile(join(scene.directory, 'cloned/secret.txt'), 'utf8').catch(() => '');
    return found.includes(scene.canary);
  },
  product: (scene) => refused(scene, fill(template, scene)),
  contained,
}));

const shells = ['git@localhost:a/b', 'ssh://localhost/a/b', 'localhost:a/b', 'git+ssh://localhost/a'].map(
  (address): Attack => ({
    class: 4,
    name: address,
    async unprotected(scene) {
      const env = { GIT_SSH_COMMAND: `touch ${scene.mark};` };
      await carelessly('git', ['ls-remote', address], { cwd: scene.directory, env });
      return scene.ran();
    },
    async product(scene) {
      process.env['GIT_SSH_COMMAND'] = `touch ${scene.mark};`;
      try {
        return await refused(scene, address);
      } finally {
        delete process.env['GIT_SSH_COMMAND'];
      }
    },
    contained: 'ssh goes to allowed hosts only, and git inherits nothing of the environment',
  }),
);

/** A careless check of the host by the text of the URL. */
const looksAllowed = (url: string) => url.startsWith('http://allowed.test') || url.endsWith('allowed.test');

const hiding = [
  'http://allowed.test@127.0.0.1:PORT/a/b',
  'http://allowed.test:443@127.0.0.1:PORT/a/b',
  'http://allowed.test%2f@127.0.0.1:PORT/a/b',
  'http://127.0.0.1:PORT/a/b#allowed.test',
  'http://127.0.0.1:PORT/a/b?allowed.test',
  'http://127.0.0.1:PORT\\@allowed.test',
  'http://127.0.0.1:PORT/allowed.test',
  'http://127.0.0.1:PORT/\t/allowed.test',
].map((template): Attack => ({
  class: 6,
  name: JSON.stringify(template),
  async unprotected(scene) {
    const { port, hits } = await scene.server();
    const url = template.replace('PORT', String(port));
    if (looksAllowed(url)) {
      const { username, password, href } = new URL(url);
      await fetch(href.replace(`${username}${password === '' ? '' : `:${password}`}@`, ''));
    }
    return hits.length > 0;
  },
  async product(scene) {
    const { port, hits } = await scene.server();
    const url = template.replace('PORT', String(port));
    for (const address of [url, url.replace('http:', 'https:')]) await openAsJob(scene, address);
    return hits.length > 0;
  },
  contained: 'the host is read by one strict grammar and compared as a whole',
}));

const ports: Attack = {
  class: 6,
  name: 'another port of an allowed host',
  async unprotected(scene) {
    const { port, hits } = await scene.server();
    const url = new URL(`http://127.0.0.1:${port}/a/b`);
    if (['127.0.0.1'].includes(url.hostname)) await fetch(url);
    return hits.length > 0;
  },
  async product(scene) {
    const { port, hits } = await scene.server();
    await openAsJob(scene, `https://allowed.test:${port}/a/b`);
    await openAsJob(scene, `https://127.0.0.1:${port}/a/b`);
    return hits.length > 0;
  },
  contained: 'a host without a port allows 443 only',
};

export const repositoryAttacks: Attack[] = [
  ...commands,
  ...options,
  ...configurations,
  ...neighboursOf,
  ...shells,
  ...hiding,
  ports,
];
