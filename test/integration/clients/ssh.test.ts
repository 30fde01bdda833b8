import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEgress, type Egress } from '../../../lib/network/egress.ts';
import type { RemoteCredential } from '../../../activities/git/git.ts';
import { createTestGit } from '../../support/git.ts';
import { runProcess, type ProcessCall } from '../../../activities/git/git-process.ts';
import { openSshSession } from '../../../activities/git/ssh-session.ts';
import { createWorkspaces } from '../../../activities/workspaces/workspaces.ts';
import { createTestRepository, type TestRepository } from '../../support/git-repository.ts';
import { loopbackEgress } from '../../support/servers/loopback.ts';
import { hasSsh } from '../../support/ssh/has-ssh.ts';
import { createKeyPair, startSshServer, type SshServer } from '../../support/ssh/ssh-server.ts';
import { live } from './setup.ts';
import { removeDirectory, temporaryDirectory } from '../../support/temporary-directory.ts';

const key = createKeyPair();
let server: SshServer;
let repository: TestRepository;
beforeAll(async () => {
  server = await startSshServer({ authorizedKeys: [key.public] });
  repository = await createTestRepository({ 'README.md': '# Lamp\n', 'big.bin': randomBytes(300_000) });
  server.add('acme/lamp', repository.path);
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await repository?.[Symbol.asyncDispose]();
});

const credential = () => ({ privateKey: key.private, knownHosts: [server.hostKey] });

interface Setting {
  egress?: Egress;
  url?: string;
  shown?: RemoteCredential | null;
}

/** Working copies of one repository, and the processes that were started for them. */
async function openCopies({
  egress = loopbackEgress,
  url = server.url('acme/lamp'),
  shown = credential(),
}: Setting = {}) {
  const directory = temporaryDirectory();
  const home = join(directory, "git's home, 100%41");
  const calls: Omit<ProcessCall, 'signal'>[] = [];
  const kept: { mode: number; name: string }[] = [];
  const git = createTestGit({
    home,
    egress,
    async run({ signal, ...call }) {
      calls.push(call);
      for (const name of await readdir(join(home, 'ssh'), { recursive: true }).catch(() => []))
        kept.push({ name: name.split('/').at(-1) ?? '', mode: (await stat(join(home, 'ssh', name))).mode & 0o777 });
      return runProcess({ ...call, signal });
    },
  });
  const workspaces = createWorkspaces({ git, directory: join(directory, 'work') });
  const access = { organizationId: 'org_test', repository: url, credential: shown, signal: live };
  return {
    home,
    calls,
    kept,
    access,
    workspaces,
    resolve: () => workspaces.resolve({ ...access, ref: null }),
    /** Edits a file; returns a function that pushes the edit to the branch `docket/<jobId>`. */
    async edit(jobId: string) {
      const { commit: baseCommit } = await workspaces.resolve({ ...access, ref: null });
      const opened = await workspaces.open({ ...access, jobId, baseCommit, snapshot: null });
      await writeFile(join(opened.path, 'edit.txt'), 'edited\n');
      const { snapshot } = await workspaces.snapshot(jobId, { baseCommit, sinceTree: null, signal: live });
      await opened.release();
      return (beforePush = async () => {}) =>
        workspaces.publish({
          ...access,
          jobId,
          branch: `docket/${jobId}`,
          baseCommit,
          snapshot: snapshot!,
          message: `Edit\n\nAgent-Job: ${jobId}\n`,
          author: { name: 'Docket', email: 'docket@example.com', date: new Date(0) },
          published: null,
          beforePush,
        });
    },
    [Symbol.asyncDispose]: () => removeDirectory(directory),
  };
}

describe.skipIf(!hasSsh)('a repository over ssh', () => {
  it('is read and pushed to with the project’s key, which remains nowhere and is in no argument or variable', async () => {
    await using copies = await openCopies();
    const publish = await copies.edit('job-edit');
    await publish();
    expect((await repository.read('docket/job-edit'))['edit.txt']).toBe('100644 edited');
    expect(server.commands.every((text) => /^git-(?:upload|receive)-pack '\/acme\/lamp'$/.test(text))).toBe(true);

    expect(await readdir(join(copies.home, 'ssh'))).toEqual([]);
    const modes = new Set(
      copies.kept.map(({ name, mode }) => `${name.length > 30 ? 'directory' : name} ${mode.toString(8)}`),
    );
    expect([...modes].toSorted()).toEqual(['config 600', 'directory 700', 'hosts 600', 'key 600']);
    const started = JSON.stringify(copies.calls.map(({ args, env }) => ({ args, env })));
    expect(started).toContain('GIT_SSH_COMMAND');
    expect(started).not.toContain(key.private.split('\n')[2]);
  });

  it('refuses a key that the server does not know, with the reason', async () => {
    await using copies = await openCopies({ shown: { ...credential(), privateKey: createKeyPair().private } });
    await expect(copies.resolve()).rejects.toMatchObject({
      kind: 'authentication',
      message: "The repository's server rejected the project's ssh key.",
    });
  });

  it('is refused if its server’s host key differs from the project’s; no key is trusted on first use', async () => {
    await using impostor = await startSshServer({ authorizedKeys: [key.public] });
    impostor.add('acme/lamp', repository.path);
    const [, ...known] = server.hostKey.split(' ');
    const changed = { ...credential(), knownHosts: [`[127.0.0.1]:${impostor.port} ${known.join(' ')}`] };
    await using copies = await openCopies({ url: impostor.url('acme/lamp'), shown: changed });
    await expect(copies.resolve()).rejects.toMatchObject({
      kind: 'authentication',
      message: expect.stringMatching(/presented an unknown host key/),
    });
    expect(impostor.commands).toEqual([]);

    await using unknown = await openCopies({ url: impostor.url('acme/lamp') });
    const before = impostor.connections();
    await expect(unknown.resolve()).rejects.toMatchObject({ message: expect.stringMatching(/has no host key for/) });
    expect(impostor.connections()).toBe(before);
  });

  it('is reached only with a key', async () => {
    await using copies = await openCopies({ shown: null });
    await expect(copies.resolve()).rejects.toMatchObject({
      kind: 'authentication',
      message: expect.stringMatching(/has no ssh key/),
    });
    const token = { username: 'git', token: async () => 'token', origin: 'https://127.0.0.1' };
    await using others = await openCopies({ shown: token });
    await expect(others.resolve()).rejects.toMatchObject({ kind: 'authentication' });
  });

  it('is not reached at a private address, whatever its name resolves to', async () => {
    const before = server.connections();
    await using literal = await openCopies({ egress: createEgress() });
    await expect(literal.resolve()).rejects.toMatchObject({ message: expect.stringMatching(/DOCKET_PRIVATE_HOSTS/) });
    const resolve = leadsTo('127.0.0.1');
    const url = `ssh://git@git.example.test:${server.port}/acme/lamp`;
    await using named = await openCopies({
      egress: createEgress({ resolve }),
      url,
      shown: knownAs('git.example.test'),
    });
    await expect(named.resolve()).rejects.toMatchObject({ message: expect.stringMatching(/DOCKET_PRIVATE_HOSTS/) });
    expect(server.connections()).toBe(before);
  });

  it('is reached at the checked addresses, one after the other', async () => {
    const resolve = leadsTo('127.0.0.2', '127.0.0.1');
    const egress = createEgress({ resolve, privateHosts: ['git.example.test'] });
    const url = `ssh://git@git.example.test:${server.port}/acme/lamp`;
    await using copies = await openCopies({ egress, url, shown: knownAs('git.example.test') });
    expect(await copies.resolve()).toMatchObject({ branch: 'main' });
  });

  it('that does not exist is distinguished from a missing server', async () => {
    await using missing = await openCopies({ url: server.url('acme/none') });
    await expect(missing.resolve()).rejects.toMatchObject({ kind: 'not-found' });
    await using closed = await startSshServer({ authorizedKeys: [] });
    const gone = { privateKey: key.private, knownHosts: [closed.hostKey] };
    await closed[Symbol.asyncDispose]();
    await using copies = await openCopies({ url: closed.url('acme/lamp'), shown: gone });
    await expect(copies.resolve()).rejects.toMatchObject({ kind: 'unreachable' });
  });

  it('whose connection is cut midway is fetched and pushed to the next time', async () => {
    await using copies = await openCopies();
    server.cutAfter(20_000);
    await expect(copies.edit('cut')).rejects.toMatchObject({ kind: 'unreachable' });
    server.cutAfter(null);
    const publish = await copies.edit('cut');
    await expect(publish(async () => server.cutAfter(0))).rejects.toMatchObject({ kind: 'unreachable' });
    server.cutAfter(null);
    const { commit } = await publish();
    expect(await repository.git('rev-parse', 'docket/cut')).toBe(commit);
    expect(await readdir(join(copies.home, 'ssh'))).toEqual([]);
  });
});

describe.skipIf(!hasSsh)('the directory of a key', () => {
  const request = (home: string) => ({
    home,
    path: process.env['PATH'] ?? '',
    repository: server.url('acme/lamp'),
    credential: credential(),
    address: '127.0.0.1',
    abandonedAfterMs: 60_000,
  });

  it('that a killed worker left behind is removed at the next use; one in use stays', async () => {
    const home = temporaryDirectory();
    const left = join(home, 'ssh/left');
    await mkdir(left, { recursive: true });
    await writeFile(join(left, 'key'), 'x');
    await utimes(left, new Date(0), new Date(0));
    await using first = await openSshSession(request(home));
    await using second = await openSshSession(request(home));
    expect(await readdir(join(home, 'ssh'))).toHaveLength(2);
    const config = /'(.*)'/.exec(second.env['GIT_SSH_COMMAND'] ?? '')?.[1] ?? '';
    expect(await readFile(config, 'utf8')).toContain('StrictHostKeyChecking yes');
    expect(first.env).not.toEqual(second.env);
  });

  it('is not created without ssh', async () => {
    const home = temporaryDirectory();
    await expect(openSshSession({ ...request(home), path: home })).rejects.toMatchObject({
      kind: 'other',
      message: 'ssh could not be started; install the OpenSSH client on the worker.',
    });
    expect(await readdir(home)).toEqual([]);
  });
});

function leadsTo(...addresses: string[]) {
  return (_name: string, done: (error: null, found: { address: string; family: number }[]) => void) =>
    done(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    );
}

function knownAs(host: string) {
  const [, ...rest] = server.hostKey.split(' ');
  return { privateKey: key.private, knownHosts: [`[${host}]:${server.port} ${rest.join(' ')}`] };
}
