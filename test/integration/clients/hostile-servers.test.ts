import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createEgress } from '../../../lib/network/egress.ts';
import { createTestGit } from '../../support/git.ts';
import { createGiteaForge } from '../../../activities/forges/gitea.ts';
import { createGithubForge } from '../../../activities/forges/github.ts';
import { createTokenCredential } from '../../../activities/forges/github-credential.ts';
import { createGitlabForge } from '../../../activities/forges/gitlab.ts';
import { listRemote } from '../../../activities/git/remote.ts';
import { createWebhookSender } from '../../../activities/network/webhook-sender.ts';
import type { Marks } from '../../../activities/forges/forge.ts';
import { holdOf } from '../../support/database/hold-of.ts';
import { live } from './setup.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const opened: Server[] = [];
afterEach(() => {
  for (const server of opened.splice(0)) server.close();
});

async function listening(server: Server): Promise<string> {
  opened.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Sends a few bytes to each client, and then nothing. */
const saying = (bytes: string) =>
  listening(
    createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.write(bytes));
    }),
  );

const answering = (answer: (request: IncomingMessage, response: ServerResponse, at: string) => void) => {
  const server = createHttpServer((request, response) => answer(request, response, request.headers.host ?? ''));
  return listening(server);
};

const noMarks: Marks = { reviewers: [], labels: [], assignees: [] };

function forgesAt(at: string, marks = noMarks) {
  const egress = createEgress({ privateHosts: [at] });
  const url = `http://${at}`;
  const draft = {
    repository: `${url}/acme/lamp`,
    head: 'docket/x',
    base: 'main',
    title: 'Title',
    body: '',
    previous: [],
    draft: false,
    marks,
    signal: live,
    beforeEffect: () => (marks === noMarks ? Promise.reject(new Error('Nothing is to be made.')) : Promise.resolve()),
  };
  return [
    createGithubForge({ credential: createTokenCredential('t'), apiUrl: url, egress }),
    createGitlabForge({ token: 't', url, egress }),
    createGiteaForge({ token: 't', url, egress }),
  ].map((forge) => () => forge.ensurePullRequest(draft));
}

describe('a malicious server', () => {
  it.each([
    ['switches to another protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'],
    ['goes on saying that it goes on', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['says nothing', ''],
  ])('blocks neither a delivery nor a forge request when it %s', async (_what, bytes) => {
    const at = await saying(bytes);
    const url = `http://${at}/`;
    const sender = createWebhookSender({ allowedHosts: [at], timeoutMs: 300 });
    await expect(sender.send({ url, headers: {}, body: '{}', signal: live })).rejects.toThrow(/receiver/);
    const asked = createEgress({ privateHosts: [at] }).fetch(url, { signal: AbortSignal.timeout(300) });
    await expect(asked).rejects.toBeInstanceOf(Error);
  });

  it('is not followed to the further pages that it names', async () => {
    const asked: string[] = [];
    const own = { iid: 1, source_branch: 'docket/x', project_id: 1, state: 'opened', title: 'Title', description: '' };
    const at = await answering(({ url = '' }, response, host) => {
      asked.push(url);
      const listed = url.includes('/users') ? [] : [{ ...own, web_url: `http://${host}/1` }];
      const link = `<http://${host}${url}&page=${asked.length + 1}&per_page=1000000>; rel="next"`;
      response.writeHead(200, { 'content-type': 'application/json', link }).end(JSON.stringify(listed));
    });
    const ensure = forgesAt(at, { ...noMarks, assignees: ['ann'] })[1]!;
    expect(await ensure()).toMatchObject({ id: '1', notes: ['GitLab does not know the assignees ann.'] });
    expect(asked).toHaveLength(2);
  });

  it.each([
    ['a list of millions', `[${'{},'.repeat(2_000_000)}{}]`],
    ['a list longer than was asked for', `[${'{},'.repeat(24_000)}{}]`],
    ['depth without end', `${'['.repeat(4_000_000)}${']'.repeat(4_000_000)}`],
    ['names without end', `{${Array.from({ length: 400_000 }, (_, at) => `"k${at}":{}`).join(',')}}`],
  ])('does not hold up a worker with %s', async (_what, body) => {
    const at = await answering((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    });
    for (const ensure of forgesAt(at)) {
      const ask = () => expect(ensure()).rejects.toMatchObject({ kind: 'unavailable' });
      expect(await holdOf(ask)).toBe(0);
    }
  });

  it('cannot make an overlong pull request URL be stored', async () => {
    const link = `https://forge.example/${'x'.repeat(3_000_000)}`;
    const made = { number: 1, html_url: link, state: 'open', merged: false, title: 'Title', head: { ref: 'docket/x' } };
    const request = { ...made, iid: 1, web_url: link, source_branch: 'docket/x', project_id: 1 };
    const at = await answering(({ headers, url = '' }, response) => {
      const one = { ...request, state: url.startsWith('/api/v4') ? 'opened' : 'open' };
      const isList = headers.authorization?.startsWith('token t') !== true || url.startsWith('/repos');
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(isList ? [one] : one));
    });
    for (const ensure of forgesAt(at)) await expect(ensure()).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('can name neither an invalid default branch nor an endless list of refs', async () => {
    const line = (text: string) => `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`;
    const commit = 'a'.repeat(40);
    let listed: string[] = [];
    const at = await answering(({ url = '' }, response) => {
      const isFirst = url.includes('info/refs');
      response.setHeader('content-type', `application/x-git-upload-pack-${isFirst ? 'advertisement' : 'result'}`);
      const first = [line('# service=git-upload-pack\n'), '0000', line('version 2\n'), line('ls-refs\n')];
      response.end([...(isFirst ? first : listed), '0000'].join(''));
    });
    const directory = temporaryDirectory();
    const git = createTestGit({
      home: directory,
      transports: ['http'],
      egress: createEgress({ privateHosts: [at] }),
    });
    const access = { repository: `http://${at}/acme/lamp`, credential: null, signal: live };
    const list = () => listRemote(git, { gitDir: directory, access, names: ['HEAD'] });
    for (const name of ['main', '--upload-pack=x', 'x'.repeat(60_000), '\u001b[31m']) {
      listed = [line(`${commit} HEAD symref-target:refs/heads/${name}\n`)];
      expect((await list()).defaultBranch).toBe(name === 'main' ? 'main' : null);
    }
    listed = Array.from({ length: 30_000 }, (_, number) => line(`${commit} refs/${number}/HEAD\n`));
    await expect(list()).rejects.toMatchObject({ kind: 'too-large' });
  });
});
