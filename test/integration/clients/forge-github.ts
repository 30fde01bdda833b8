import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createForges } from '../../../activities/forges/forges.ts';
import { createGithubForge } from '../../../activities/forges/github.ts';
import { createAppCredential, createTokenCredential } from '../../../activities/forges/github-credential.ts';
import { createFakeGithub, type FakeGithub } from '../../support/forges/fake-github.ts';
import { addLamp, draftOf, githubStage } from './forge-stage.ts';
import { access, createTestWorkspaces } from './setup.ts';
import { loopbackEgress } from '../../support/servers/loopback.ts';

/** Behavior that only GitHub has. */
export function describeGithub(github: () => FakeGithub): void {
  const beforeEffect = async () => {};
  const refusal = () => null;

  describe('GitHub alone', () => {
    it('asks for a retry when GitHub refuses a duplicate that it does not list', async () => {
      const stage = githubStage(github);
      const lamp = await addLamp(stage);
      const errors = [{ message: 'A pull request already exists for acme:docket/1.' }];
      github().fail({ on: 'create', status: 422, body: { message: 'Validation Failed', errors } });
      const asked = stage.forge().ensurePullRequest({ ...draftOf(lamp), beforeEffect });
      await expect(asked).rejects.toMatchObject({ kind: 'unavailable' });
    });

    it('opens an ordinary pull request if the repository does not support drafts', async () => {
      const stage = githubStage(github);
      const lamp = await addLamp(stage);
      const message = 'Draft pull requests are not supported in this repository.';
      github().fail({ on: 'create', status: 422, body: { message } });
      await stage.forge().ensurePullRequest({ ...draftOf(lamp, { draft: true }), beforeEffect });
      expect(await lamp.seen()).toMatchObject([{ draft: false, state: 'open' }]);
    });

    it('prefers an open pull request to a closed one of the same branch', async () => {
      const stage = githubStage(github);
      const lamp = await addLamp(stage);
      const first = await stage.forge().ensurePullRequest({ ...draftOf(lamp), beforeEffect });
      await lamp.close(first.id);
      const own = github().pullRequests(new URL(lamp.url).pathname.slice(1));
      own.push({ ...own[0]!, number: 2, state: 'open' });
      expect(await stage.forge().ensurePullRequest({ ...draftOf(lamp), beforeEffect })).toMatchObject({
        id: '2',
        state: 'open',
      });
    });

    it('uses its credential for its own server only', async () => {
      const credential = createTokenCredential('secret');
      const hosted = createGithubForge({ credential, apiUrl: 'https://api.github.com' });
      const own = hosted.credential('https://github.com/acme/lamp');
      expect(own).toMatchObject({ username: 'x-access-token', origin: 'https://github.com' });
      expect(await own?.token()).toBe('secret');
      const others = ['https://github.com.evil.test/a/b', 'http://github.com/a/b', 'https://github.com:444/a/b', 'x'];
      for (const address of others) expect(hosted.credential(address)).toBeNull();
      const enterprise = createGithubForge({ credential, apiUrl: 'https://git.acme.test/api/v3/' });
      expect(enterprise.credential('https://git.acme.test/a/b')?.origin).toBe('https://git.acme.test');
      expect(enterprise.credential('https://github.com/a/b')).toBeNull();
    });
  });

  describe('a GitHub App', () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const publicPem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

    async function start(key = privatePem) {
      const server = await createFakeGithub({ app: { appId: '123', publicKey: publicPem } });
      server.tokens.clear();
      const credential = createAppCredential({ appId: '123', privateKey: key }, server.apiUrl, {
        egress: loopbackEgress,
      });
      const forge = createGithubForge({ credential, apiUrl: server.apiUrl, egress: loopbackEgress });
      const stage = githubStage(() => server);
      const lamp = await addLamp(stage);
      return { server, stage, forge, lamp, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
    }

    /** Returns the forges of a worker that has the App. */
    function forgesOf({ server, forge }: Awaited<ReturnType<typeof start>>) {
      const github = { apiUrl: server.apiUrl, token: null, app: { appId: '123', privateKey: privatePem } };
      return createForges({ local: forge, github, gitlab: null, gitea: null, egress: loopbackEgress });
    }

    it('uses one token per repository, limited to contents and pull requests', async () => {
      await using scene = await start();
      const { server, forge, lamp } = scene;
      expect(await forge.ensurePullRequest({ ...draftOf(lamp), beforeEffect })).toMatchObject({ id: '1' });
      const git = await forge.credential(lamp.url)?.token();
      const minted = server.requests.filter(({ operation }) => operation === 'token');
      const name = new URL(lamp.url).pathname.split('/')[2];
      const permissions = { contents: 'write', pull_requests: 'write' };
      expect(minted.map(({ body }) => body)).toEqual([{ repositories: [name], permissions }]);
      expect([...server.tokens]).toEqual([git]);
      expect(server.violations).toEqual([]);
    });

    it('mints one token per job, for all of its requests', async () => {
      await using scene = await start();
      const { server, lamp } = scene;
      const forges = forgesOf(scene);
      const project = { forge: 'github', forgeUrl: null, repository: lamp.url } as const;
      const tokenOf = (jobId: string) => forges.forProject(project, { jobId, refusal }).credential(lamp.url)?.token();
      const first = await tokenOf('job_1');
      await forges
        .forProject(project, { jobId: 'job_1', refusal })
        .ensurePullRequest({ ...draftOf(lamp), beforeEffect });
      expect(await tokenOf('job_1')).toBe(first);
      expect(await tokenOf('job_2')).not.toBe(first);
      expect(server.requests.filter(({ operation }) => operation === 'token')).toHaveLength(2);
    });

    it('lets the token change workflow files where the project allows it and the App may', async () => {
      await using scene = await start();
      const { server, lamp } = scene;
      const forges = forgesOf(scene);
      const project = { forge: 'github', forgeUrl: null, repository: lamp.url, mayChangeWorkflows: true } as const;
      const mint = (jobId: string) => forges.forProject(project, { jobId, refusal }).credential(lamp.url)!.token();
      const minted = () => server.requests.filter(({ operation }) => operation === 'token').map(({ body }) => body);
      const usual = { contents: 'write', pull_requests: 'write' };
      await mint('job_1');
      expect(minted()).toMatchObject([{ permissions: { ...usual, workflows: 'write' } }]);
      server.fail({ on: 'token', status: 422 });
      expect(server.tokens).toContain(await mint('job_2'));
      expect(minted().at(-1)).toEqual({ repositories: [expect.any(String)], permissions: usual });
    });

    it('revokes a job’s token when the job has ended, exactly once, whether or not GitHub accepts it', async () => {
      await using scene = await start();
      const { server, lamp } = scene;
      const forges = forgesOf(scene);
      const project = { forge: 'github', forgeUrl: null, repository: lamp.url } as const;
      const credentialOf = (jobId: string) => forges.forProject(project, { jobId, refusal }).credential(lamp.url);
      const ended = (...jobs: string[]) => forges.revokeEnded(async (ids) => ids.filter((id) => jobs.includes(id)));
      const first = await credentialOf('job_1')!.token();
      const held = credentialOf('job_2')!;
      const second = await held.token();
      const isRevoke = ({ operation }: { operation: string }) => operation === 'revoke';
      expect(await ended()).toEqual({ jobs: 0, failed: 0 });
      expect(await ended('job_1', 'job_9')).toEqual({ jobs: 1, failed: 0 });
      expect([...server.tokens]).toEqual([second]);
      expect(server.requests.filter(isRevoke).map(({ authorization }) => authorization)).toEqual([`token ${first}`]);
      expect(await ended('job_1')).toEqual({ jobs: 0, failed: 0 });

      server.fail({ on: 'revoke', status: 500 });
      expect(await ended('job_2')).toEqual({ jobs: 1, failed: 1 });
      expect(await ended('job_2')).toEqual({ jobs: 0, failed: 0 });
      server.tokens.delete(second);
      // a message starts another turn, which has a new token
      expect(await credentialOf('job_1')!.token()).not.toBe(first);
      expect(await held.token({ fresh: true })).not.toBe(second);
      expect(server.violations).toEqual([]);
    });

    it('uses another token for another repository', async () => {
      await using scene = await start();
      const { stage, forge, lamp } = scene;
      const other = await addLamp(stage);
      const [first, second] = [await forge.credential(lamp.url)?.token(), await forge.credential(other.url)?.token()];
      expect(first).not.toBe(second);
      expect(await forge.credential(lamp.url)?.token()).toBe(first);
    });

    it('continues with a new token when its token expires midway', async () => {
      await using scene = await start();
      const { server, forge, lamp } = scene;
      await forge.ensurePullRequest({ ...draftOf(lamp), beforeEffect: async () => server.tokens.clear() });
      expect(await lamp.seen()).toHaveLength(1);
      expect(server.requests.filter(({ operation }) => operation === 'token')).toHaveLength(2);
      expect(server.requests.filter(({ operation }) => operation === 'create')).toHaveLength(2);
    });

    it('gives git a new token when the first was refused, and requests no third', async () => {
      await using scene = await start();
      await using test = await createTestWorkspaces();
      const { server, forge, lamp } = scene;
      const resolve = () => test.workspaces.resolve({ ...access(lamp.url, forge.credential(lamp.url)), ref: null });
      await resolve();
      server.tokens.clear();
      expect(await resolve()).toMatchObject({ branch: 'main' });
      const minted = () => server.requests.filter(({ operation }) => operation === 'token').length;
      expect(minted()).toBe(2);
      server.onRequest = ({ operation }) => {
        if (operation === 'git-read') server.tokens.clear();
      };
      await expect(resolve()).rejects.toMatchObject({ kind: 'authentication' });
      expect(minted()).toBe(3);
    });

    it('reports that it is not installed, or that its key is wrong', async () => {
      await using scene = await start();
      const missing = draftOf({ url: `${scene.server.origin}/acme/none` });
      await expect(scene.forge.ensurePullRequest({ ...missing, beforeEffect })).rejects.toMatchObject({
        kind: 'not-found',
      });
      const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
      const wrong = createAppCredential(
        { appId: '123', privateKey: stranger.export({ type: 'pkcs8', format: 'pem' }).toString() },
        scene.server.apiUrl,
        { egress: loopbackEgress },
      );
      const forge = createGithubForge({ credential: wrong, apiUrl: scene.server.apiUrl, egress: loopbackEgress });
      await expect(forge.ensurePullRequest({ ...draftOf(scene.lamp), beforeEffect })).rejects.toMatchObject({
        kind: 'authentication',
      });
      await expect(forge.credential(scene.lamp.url)?.token()).rejects.toMatchObject({ kind: 'authentication' });
    });
  });
}
