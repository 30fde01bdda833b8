// @module-tag slow
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createGiteaForge } from '../../../activities/forges/gitea.ts';
import { findGitea } from '../../support/forges/gitea-build.ts';
import { startGitea, type Gitea } from '../../support/forges/gitea-server.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { describeForge } from '../clients/forge-contract.ts';
import {
  addLamp,
  branchesOf,
  draftOf,
  type SeenPullRequest,
  type Stage,
  type StageRepository,
} from '../clients/forge-stage.ts';
import { loopbackEgress } from '../../support/servers/loopback.ts';

// `npm run test:forges` builds one
const binary = await findGitea(process.env);
const beforeEffect = async () => {};
let gitea: Gitea;
let made = 0;

const stage: Stage = {
  name: 'gitea',
  isHosted: true,
  refusesEmpty: false,
  hasMarks: true,
  people: { known: 'octavia', unknown: 'nobody' },
  forge: (token = gitea.token) => createGiteaForge({ token, url: gitea.origin, egress: loopbackEgress }),
  missing: () => `${gitea.origin}/bot/none`,
  async addRepository() {
    made += 1;
    return addGiteaRepository(gitea, `lamp-${made}`);
  },
};

/** A label and a user who can review. */
async function addMarks(server: Gitea, path: string): Promise<void> {
  await server.ask('POST', `${path}/labels`, { name: 'docs', color: '#00aabb' });
  await server.ask('PUT', `${path}/collaborators/octavia`, { permission: 'write' });
}

async function addGiteaRepository(server: Gitea, name: string): Promise<StageRepository & { path: string }> {
  await server.ask('POST', '/user/repos', { name, auto_init: true, default_branch: 'main' });
  const path = `/repos/bot/${name}`;
  await addMarks(server, path);
  const local = await createTestRepository();
  onTestFinished(() => local[Symbol.asyncDispose]());
  const { addBranches, moveMain, commitOf, push: commit } = branchesOf(local);
  const address = new URL(`${server.origin}/bot/${name}.git`);
  Object.assign(address, { username: 'bot', password: server.token });
  const push = () => local.git('push', '--quiet', '--force', address.href, 'refs/heads/*:refs/heads/*');
  return {
    path,
    url: `${server.origin}/bot/${name}`,
    async addBranches(branches) {
      await addBranches(branches);
      await push();
    },
    async moveMain() {
      await moveMain();
      await push();
    },
    async seen() {
      const listed = await server.ask('GET', `${path}/pulls?state=all&limit=50`);
      return listed.map(seenOf).toReversed();
    },
    commitOf,
    async push(branch) {
      await commit(branch);
      await push();
    },
    async conflict() {
      await local.commit({ 'a.txt': 'another a' });
      await push();
    },
    close: (id) => server.ask('PATCH', `${path}/pulls/${id}`, { state: 'closed' }),
    merge: (id) => server.ask('POST', `${path}/pulls/${id}/merge`, { Do: 'merge' }),
  };
}

function seenOf(pullRequest: any): SeenPullRequest {
  const logins = (people: any[] | null) => (people ?? []).map(({ login }) => login);
  return {
    id: String(pullRequest.number),
    title: pullRequest.title.replace(/^WIP: /, ''),
    body: pullRequest.body,
    draft: pullRequest.draft,
    state: pullRequest.merged ? 'merged' : pullRequest.state,
    labels: pullRequest.labels.map(({ name }: any) => name),
    assignees: logins(pullRequest.assignees),
    reviewers: logins(pullRequest.requested_reviewers),
  };
}

describe.runIf(binary !== null)('a real Gitea', () => {
  beforeAll(async () => {
    gitea = await startGitea(binary!);
    await gitea.addUser('octavia');
  });
  afterAll(() => gitea?.[Symbol.asyncDispose]());

  describeForge(stage);

  it('finds an open pull request older than a closed one of the same branches', async () => {
    const lamp = await addLamp(stage);
    const first = await stage.forge().ensurePullRequest({ ...draftOf(lamp), beforeEffect });
    await lamp.close(first.id);
    const path = `/repos${new URL(lamp.url).pathname}`;
    await gitea.ask('POST', `${path}/pulls`, { head: 'docket/1', base: 'main', title: 'By hand', body: '' });
    const found = await stage.forge().ensurePullRequest({ ...draftOf(lamp), beforeEffect });
    expect(found).toMatchObject({ id: '2', state: 'open' });
    expect(await lamp.seen()).toMatchObject([
      { id: '1', state: 'closed' },
      { id: '2', title: 'Say hello' },
    ]);
  });

  it('finds a pull request whose base a person changed, among more than a page of others', async () => {
    const lamp = await addLamp(stage);
    const first = await stage.forge().ensurePullRequest({ ...draftOf(lamp), beforeEffect });
    const path = `/repos${new URL(lamp.url).pathname}`;
    await gitea.ask('PATCH', `${path}/pulls/${first.id}`, { base: 'trunk' });
    for (const head of ['docket/2', 'docket/same', 'trunk'])
      await gitea.ask('POST', `${path}/pulls`, { head, base: 'main', title: 'Other', body: '' });
    const forge = createGiteaForge({ token: gitea.token, url: gitea.origin, pageSize: 2, egress: loopbackEgress });
    expect(await forge.ensurePullRequest({ ...draftOf(lamp), beforeEffect })).toEqual(first);
  });

  it('reports which label does not exist', async () => {
    const lamp = await addLamp(stage);
    const marks = { reviewers: [], labels: ['docs', 'nope'], assignees: [] };
    const { notes } = await stage.forge().ensurePullRequest({ ...draftOf(lamp, { marks }), beforeEffect });
    expect(notes).toEqual(['Gitea has no label named nope.']);
    expect(await lamp.seen()).toMatchObject([{ labels: ['docs'] }]);
  });

  it('reports that the repository has moved', async () => {
    const lamp = await addLamp(stage);
    const path = `/repos${new URL(lamp.url).pathname}`;
    await gitea.ask('PATCH', path, { name: `moved-${made}` });
    const asked = stage.forge().ensurePullRequest({ ...draftOf(lamp), beforeEffect });
    await expect(asked).rejects.toMatchObject({ kind: 'not-found', message: expect.stringMatching(/moved/) });
  });

  it('recognizes a read-only token', async () => {
    const lamp = await addLamp(stage);
    const basic = Buffer.from('bot:bot-pass-1').toString('base64');
    const response = await fetch(`${gitea.origin}/api/v1/users/bot/tokens`, {
      method: 'POST',
      headers: { authorization: `Basic ${basic}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: `read-${made}`, scopes: ['read:repository', 'read:issue'] }),
    });
    const { sha1: token } = (await response.json()) as { sha1: string };
    const asked = stage.forge(token).ensurePullRequest({ ...draftOf(lamp), beforeEffect });
    await expect(asked).rejects.toMatchObject({ kind: 'authentication' });
    expect(await lamp.seen()).toEqual([]);
  });
});
