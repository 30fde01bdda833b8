import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runDocket } from '../support/stack/docket-process.ts';
import { findGitea } from '../support/forges/gitea-build.ts';
import { startGitea, type Gitea } from '../support/forges/gitea-server.ts';
import { startScriptedModelServer, type ScriptedModelServer } from '../support/servers/scripted-model-server.ts';
import { startTestStack, type TestStack } from '../support/stack/stack.ts';

// `npm run test:forges` builds one
const binary = await findGitea(process.env);
const repository = '/repos/acme/lamp';

describe.skipIf(binary === null)(
  'a job of the whole service on a real Gitea, over TLS with a private certificate authority',
  () => {
    let gitea: Gitea;
    let model: ScriptedModelServer;
    let stack: TestStack;
    let project: { id: string; forge: string; hasForgeToken: boolean };
    /** The token of a user who can write to one repository and nothing else. */
    let token: string;
    let jobId: string;

    beforeAll(async () => {
      gitea = await startGitea(binary ?? '', { isTls: true });
      await gitea.ask('POST', '/orgs', { username: 'acme' });
      await gitea.ask('POST', '/orgs/acme/repos', {
        name: 'lamp',
        private: true,
        auto_init: true,
        default_branch: 'trunk',
      });
      await gitea.ask('POST', `${repository}/labels`, { name: 'docs', color: '#00aabb' });
      await gitea.addUser('agent');
      await gitea.ask('PUT', `${repository}/collaborators/agent`, { permission: 'write' });
      token = await gitea.tokenOf('agent', ['write:repository', 'write:issue']);
      model = await startScriptedModelServer();
      stack = await startTestStack({
        env: {
          OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
          DOCKET_SELF_REVIEW: 'off',
          OPENAI_COMPATIBLE_API_KEY: 'key',
          DOCKET_ALLOWED_HOSTS: new URL(gitea.origin).host,
          DOCKET_PRIVATE_HOSTS: new URL(gitea.origin).host,
          NODE_EXTRA_CA_CERTS: gitea.authority ?? '',
        },
      });
      project = await createProject();
    });
    afterAll(async () => {
      await stack?.[Symbol.asyncDispose]();
      await model?.[Symbol.asyncDispose]();
      await gitea?.[Symbol.asyncDispose]();
    });

    /** Like a person would: the token is passed on standard input. */
    async function createProject() {
      const args = ['project', 'create', '--repository', `${gitea.origin}/acme/lamp`, '--forge', 'gitea'];
      const marks = ['--label', 'docs', '--reviewer', 'bot', '--model', 'compatible/scripted'];
      const { out, error, code } = await runDocket([...args, ...marks, '--token-stdin', '--json'], stack.env, token);
      expect(error).toBe('');
      expect(code).toBe(0);
      expect(out).not.toContain(token);
      return JSON.parse(out);
    }

    async function call(method: string, path: string, body?: unknown): Promise<any> {
      const { baseUrl, adminKey } = stack.localJson;
      const response = await fetch(`${baseUrl}/v2/agent/${project.id}/job${path}`, {
        method,
        headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      const answer = await response.json();
      expect(response.status, JSON.stringify(answer)).toBeLessThan(300);
      return answer;
    }

    async function untilEnded(): Promise<any> {
      for (;;) {
        const job = await call('GET', `/${jobId}`);
        if (job.status !== 'active') return job;
        await delay(100);
      }
    }

    async function followUp(prompt: string): Promise<any> {
      await call('POST', `/${jobId}/message`, { prompt });
      return untilEnded();
    }

    const write = (path: string, content: string) => ({ toolCalls: [{ name: 'write', input: { path, content } }] });
    const finish = (title: string) => ({
      toolCalls: [{ name: 'finish', input: { title, summary: `Did: ${title}.`, checked: 'Read it again.' } }],
    });

    /** Commits to a branch through the server's web interface. */
    async function commitByHand(path: string, text: string, branch: string): Promise<void> {
      const content = Buffer.from(text).toString('base64');
      const listed = await gitea.ask('GET', `${repository}/contents?ref=${encodeURIComponent(branch)}`);
      const sha = listed.find((file: any) => file.path === path)?.sha;
      const change = { branch, content, message: 'By hand', ...(sha === undefined ? {} : { sha }) };
      await gitea.ask(sha === undefined ? 'POST' : 'PUT', `${repository}/contents/${path}`, change);
    }

    const pullRequests = async (): Promise<any[]> => gitea.ask('GET', `${repository}/pulls?state=all&sort=oldest`);
    const filesAt = async (branch: string): Promise<string[]> => {
      const listed = await gitea.ask('GET', `${repository}/contents?ref=${encodeURIComponent(branch)}`);
      return listed.map(({ path }: any) => path).sort();
    };

    it('is created on the command line', () => {
      expect(project).toMatchObject({ forge: 'gitea', hasForgeToken: true });
    });

    it('ends in a branch and a pull request', async () => {
      model.script(write('one.txt', 'one\n'), finish('Write one'));
      ({ id: jobId } = await call('POST', '', { prompt: 'Write one' }));
      expect(await untilEnded()).toMatchObject({
        status: 'completed',
        prLink: `${gitea.origin}/acme/lamp/pulls/1`,
        details: { failure: null, pullRequest: { state: 'open' } },
      });
      const [pullRequest] = await pullRequests();
      expect(pullRequest).toMatchObject({
        title: 'Write one',
        state: 'open',
        base: { ref: 'trunk' },
        user: { login: 'agent' },
        labels: [{ name: 'docs' }],
        requested_reviewers: [{ login: 'bot' }],
      });
      expect(pullRequest.head.ref).toMatch(new RegExp(`^docket/${jobId}-`));
      for (const part of ['Write one', 'Read it again.', `docket-job: ${jobId}`])
        expect(pullRequest.body).toContain(part);
      expect(await filesAt(pullRequest.head.ref)).toEqual(['README.md', 'one.txt']);
      const { commit } = await gitea.ask('GET', `${repository}/git/commits/${pullRequest.head.sha}`);
      expect(commit.message).toMatch(new RegExp(`\n\nCo-authored-by: .+\nAgent-Job: ${jobId}\n?$`));
    });

    it('continues in the same ones, with what a person pushed to its branch', async () => {
      const [{ head }] = await pullRequests();
      await commitByHand('theirs.txt', 'theirs\n', head.ref);
      model.script(
        { toolCalls: [{ name: 'read', input: { path: 'theirs.txt' } }] },
        write('two.txt', 'two\n'),
        async () => {
          await commitByHand('late.txt', 'late\n', head.ref);
          return finish('Write two');
        },
      );
      expect(await followUp('Write two')).toMatchObject({
        status: 'completed',
        prLink: `${gitea.origin}/acme/lamp/pulls/1`,
      });
      expect(await pullRequests()).toMatchObject([{ title: 'Write one', head: { ref: head.ref } }]);
      expect(await filesAt(head.ref)).toEqual(['README.md', 'late.txt', 'one.txt', 'theirs.txt', 'two.txt']);
    });

    it('fails with the reason when a person pushed a conflicting change, and leaves the branch alone', async () => {
      const [{ head }] = await pullRequests();
      model.script(write('two.txt', 'ours\n'), async () => {
        await commitByHand('two.txt', 'theirs\n', head.ref);
        return finish('Write two again');
      });
      const failed = await followUp('Write two again');
      expect(failed).toMatchObject({ status: 'failed', details: { failure: { category: 'push_rejected' } } });
      expect(failed.details.message).toContain('same lines');
      const { content } = await gitea.ask('GET', `${repository}/contents/two.txt?ref=${encodeURIComponent(head.ref)}`);
      expect(Buffer.from(content, 'base64').toString()).toBe('theirs\n');
    });

    it('lets a site be read with the same token', async () => {
      const args = ['site', 'create', '--domain', 'lamp'];
      expect(await runDocket([...args, '--repository', `${gitea.origin}/acme/lamp`], stack.env)).toMatchObject({
        code: 0,
      });
      const { out, error } = await runDocket(['site', 'index', 'lamp', '--wait', '--json'], stack.env);
      expect({ error, pages: JSON.parse(out || '{}').index?.pages }).toEqual({ error: '', pages: 1 });
    });

    it('notices that it was merged, and then opens another one', async () => {
      await gitea.ask('POST', `${repository}/pulls/1/merge`, { Do: 'squash', delete_branch_after_merge: true });
      model.script({ text: 'Nothing to do.' });
      expect(await followUp('Is it merged?')).toMatchObject({
        status: 'completed',
        prLink: `${gitea.origin}/acme/lamp/pulls/1`,
        details: { pullRequest: { state: 'merged' } },
      });
      model.script(write('three.txt', 'three\n'), finish('Write three'));
      expect(await followUp('Write three')).toMatchObject({
        status: 'completed',
        prLink: `${gitea.origin}/acme/lamp/pulls/2`,
        details: { pullRequest: { state: 'open' } },
      });
      const [, second] = await pullRequests();
      expect(second).toMatchObject({ title: 'Write three', state: 'open', base: { ref: 'trunk' } });
      const files: any[] = await gitea.ask('GET', `${repository}/pulls/2/files`);
      expect(files.map(({ filename }) => filename)).toEqual(['three.txt']);
    });

    it('is merged by a person in Docket, and loses its branch', async () => {
      const { details } = await call('GET', `/${jobId}`);
      const { baseUrl, adminKey } = stack.localJson;
      const ask = async (action = '', body?: object): Promise<any> => {
        const response = await fetch(`${baseUrl}/v1/pull-requests/${details.pullRequest.id}${action}`, {
          method: action === '' ? 'GET' : 'POST',
          headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        return response.json();
      };
      await ask('/check');
      const fine = { merge: { mergeability: { problem: null } } };
      await expect.poll(() => ask()).toMatchObject(fine);
      const { head, headCommit } = await ask();
      await ask('/merge', { method: 'squash', deleteBranch: true, headCommit });
      await expect.poll(() => ask()).toMatchObject({ state: 'merged' });
      expect((await pullRequests())[1]).toMatchObject({ merged: true });
      expect(await filesAt('trunk')).toContain('three.txt');
      const branches = async () => (await gitea.ask('GET', `${repository}/branches`)).map(({ name }: any) => name);
      await expect.poll(branches).not.toContain(head);
    });

    it('never reveals the token', async () => {
      const logs = join(stack.home, 'logs');
      const texts = await Promise.all((await readdir(logs)).map((name) => readFile(join(logs, name), 'utf8')));
      texts.push(
        stack.output(),
        JSON.stringify(await pullRequests()),
        JSON.stringify(model.requests.map(({ body }) => body)),
      );
      for (const text of texts) expect(text).not.toContain(token);
      expect(model.violations).toEqual([]);
    });
  },
);
