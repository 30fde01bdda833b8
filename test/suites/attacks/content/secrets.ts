import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { GitError } from '../../../../activities/git/git-error.ts';
import { createTestGit } from '../../../support/git.ts';
import { createWorkspaces } from '../../../../activities/workspaces/workspaces.ts';
import { createRedactor } from '../../../../lib/redaction/redactor.ts';
import { createStreamRedactor } from '../../../../lib/redaction/redact-stream.ts';
import { createFakeGithub, type FakeGithub } from '../../../support/forges/fake-github.ts';
import { loopbackEgress } from '../../../support/servers/loopback.ts';
import type { Attack } from '../stage/attack.ts';
import { answered, carelessly, type Scene } from '../stage/scene.ts';

interface Fetched {
  github: FakeGithub;
  /** Environments and arguments of all processes while git spoke to the server. */
  processes: string;
  error: unknown;
}

/** Immediately: the request is answered afterwards, so its sender still exists. */
function processTexts(): string {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  return pids.flatMap((pid) => [readIfThere(`/proc/${pid}/environ`), readIfThere(`/proc/${pid}/cmdline`)]).join('\n');
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** Lets `act` fetch from a server that requires a token, and inspects the processes at that moment. */
async function fetching(scene: Scene, act: (github: FakeGithub, url: string) => Promise<unknown>): Promise<Fetched> {
  const github = await createFakeGithub();
  scene.defer(() => github[Symbol.asyncDispose]());
  const { url } = await github.addRepository('acme/lamp');
  let processes: string | null = null;
  github.onRequest = ({ authorization }) => {
    if (authorization !== null) processes ??= processTexts();
  };
  const error = await act(github, url).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { github, processes: processes ?? '', error };
}

/** With the token in the URL, as many tutorials show. */
function inAddress(scene: Scene, trace = false) {
  return fetching(scene, async (github, url) => {
    const address = url.replace('://', `://x-access-token:${github.token}@`);
    const env = trace
      ? { GIT_TRACE: join(scene.directory, 'trace'), GIT_TRACE_CURL: join(scene.directory, 'trace') }
      : {};
    await new Promise<void>((done, fail) => {
      const settings = { cwd: scene.directory, env: { PATH: process.env['PATH'], HOME: scene.directory, ...env } };
      execFile('git', ['clone', address, 'cloned'], settings, (error) => (error === null ? done() : fail(error)));
    });
  });
}

function asJob(scene: Scene, options: { trace?: boolean; fails?: boolean } = {}) {
  return fetching(scene, async (github, url) => {
    const traced = { GIT_TRACE: join(scene.directory, 'trace'), GIT_TRACE_CURL: join(scene.directory, 'trace') };
    const git = createTestGit({ home: join(scene.directory, 'home'), transports: ['http'], egress: loopbackEgress });
    const running = {
      ...git,
      run: (call: Parameters<typeof git.run>[0]) =>
        git.run(options.trace ? { ...call, env: { ...call.env, ...traced } } : call),
    };
    const workspaces = createWorkspaces({ git: running, directory: join(scene.directory, 'work') });
    if (options.fails) github.fail({ on: 'git-read', status: 403, body: { message: github.token } });
    const credential = { username: 'x-access-token', token: async () => github.token, origin: github.origin };
    await workspaces.resolve({
      organizationId: 'org_test',
      repository: url,
      credential,
      signal: AbortSignal.timeout(60_000),
      ref: null,
    });
  });
}

async function isInFiles(directory: string, text: string): Promise<boolean> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile())) {
    if ((await readFile(join(entry.parentPath, entry.name), 'latin1')).includes(text)) return true;
  }
  return false;
}

const linux = existsSync('/proc/self/environ') ? null : 'Linux';

const tokens: Attack[] = [
  {
    class: 20,
    name: 'the arguments and environments of processes while git fetches',
    async unprotected(scene) {
      const { github, processes } = await inAddress(scene);
      return processes.includes(github.token);
    },
    async product(scene) {
      const { github, processes } = await asJob(scene);
      return processes === '' || processes.includes(github.token);
    },
    contained: 'the token travels on a file descriptor',
    needs: linux,
  },
  {
    class: 20,
    name: 'the configuration of the clone',
    async unprotected(scene) {
      const { github } = await inAddress(scene);
      return await isInFiles(scene.directory, github.token);
    },
    async product(scene) {
      const { github, error } = await asJob(scene);
      return error !== null || (await isInFiles(scene.directory, github.token));
    },
    contained: 'nothing of it is written anywhere',
  },
  {
    class: 20,
    name: 'the error of a fetch that the server refuses, with the token in its answer',
    async unprotected(scene) {
      const { github, error } = await fetching(scene, async (github, url) => {
        github.fail({ on: 'git-read', status: 403, body: { message: 'no' } });
        const address = url.replace('://', `://x-access-token:${github.token}@`);
        await new Promise<void>((done, fail) => {
          execFile('git', ['ls-remote', address], (failed) => (failed === null ? done() : fail(failed)));
        });
      });
      return String(error).includes(github.token);
    },
    async product(scene) {
      const { github, error } = await asJob(scene, { fails: true });
      const said = error instanceof GitError ? `${error.stack}${error.detail}${JSON.stringify(error)}` : github.token;
      return said.includes(github.token);
    },
    contained: 'errors are fixed sentences; their detail is scrubbed',
  },
  {
    class: 20,
    name: 'the trace of git, switched on by a variable of the worker',
    async unprotected(scene) {
      const { github } = await inAddress(scene, true);
      return (await readFile(join(scene.directory, 'trace'), 'utf8')).includes(github.token);
    },
    async product(scene) {
      const { github, error } = await asJob(scene, { trace: true });
      return error !== null || (await readFile(join(scene.directory, 'trace'), 'utf8')).includes(github.token);
    },
    contained: 'the token is in no argument, and curl’s trace hides the header',
  },
  {
    class: 20,
    name: 'git sends the token to another server than its own',
    async unprotected(scene) {
      const { hits, port, authorized } = await listening(scene);
      await carelessly(
        'git',
        ['-c', 'http.extraHeader=Authorization: Bearer the-token', 'ls-remote', `http://127.0.0.1:${port}/a/b`],
        { cwd: scene.directory },
      );
      return hits.length > 0 && authorized();
    },
    async product(scene) {
      const { port, authorized } = await listening(scene);
      const git = createTestGit({ home: join(scene.directory, 'home'), transports: ['http'], egress: loopbackEgress });
      const workspaces = createWorkspaces({ git, directory: join(scene.directory, 'work') });
      const credential = { username: 'x', token: async () => 'the-token', origin: 'https://github.com' };
      const access = {
        organizationId: 'org_test',
        repository: `http://127.0.0.1:${port}/a/b`,
        credential,
        signal: AbortSignal.timeout(60_000),
      };
      await answered(workspaces.resolve({ ...access, ref: null }));
      return authorized();
    },
    contained: 'a credential answers for its own origin only',
  },
];

async function listening(scene: Scene) {
  const hits: string[] = [];
  let isAuthorized = false;
  const server = createServer((request, response) => {
    hits.push(request.url ?? '');
    isAuthorized ||= request.headers.authorization !== undefined;
    response.writeHead(401, { 'www-authenticate': 'Basic' }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  scene.defer(() => server.close());
  return { hits, port: (server.address() as { port: number }).port, authorized: () => isAuthorized };
}

const secret = 'ghs_Zk3vQ9wXr7LmT2bNc8YpA5dF';
const hex = Buffer.from(secret).toString('hex');
const base64 = (before: string) => Buffer.from(before + secret + before).toString('base64');
const reversed = [...secret].toReversed().join('');
const percent = [...secret].map((character) => `%${character.charCodeAt(0).toString(16)}`).join('');

/** Forms of a secret, and how a reader decodes them. */
const disguises: [string, string, (text: string) => string][] = [
  ['base64', base64(''), fromBase64],
  ['base64 behind one more byte', base64('x'), fromBase64],
  ['base64 behind two more bytes', base64('xy'), fromBase64],
  ['base64 for URLs', Buffer.from(`?>${secret}`).toString('base64url'), fromBase64],
  ['hexadecimal', hex, (text) => Buffer.from(/[0-9a-f]{20,}/.exec(text)?.[0] ?? '', 'hex').toString()],
  ['percent-encoded', percent, (text) => decodeURIComponent(/(?:%[0-9a-f]{2})+/.exec(text)?.[0] ?? '')],
  ['split over two lines', `${secret.slice(0, 14)}\n${secret.slice(14)}`, (text) => text.replaceAll('\n', '')],
  ['reversed', reversed, (text) => [...text].toReversed().join('')],
  ['with its prefix cut off', secret.slice(4), (text) => `ghs_${/[A-Za-z0-9]{24,}/.exec(text)?.[0] ?? ''}`],
];

function fromBase64(text: string): string {
  return Buffer.from(/[A-Za-z0-9+/_-]{20,}={0,2}/.exec(text)?.[0] ?? '', 'base64').toString('latin1');
}

const disguised = disguises.map(([form, text, reveal]): Attack => ({
  class: 21,
  name: `a token in ${form === 'reversed' || form.startsWith('split') || form.startsWith('with') ? 'the output, ' : ''}${form}`,
  unprotected: async () => reveal(`result: ${text.replaceAll(secret, '***')} end`).includes(secret),
  product: async () => reveal(createRedactor([secret])(`result: ${text} end`)).includes(secret),
  contained: 'one redactor knows the forms of each secret',
}));

const streamed: Attack = {
  class: 21,
  name: 'a token that comes in many small pieces of a stream',
  unprotected: async () => [...secret].map((piece) => piece.replaceAll(secret, '***')).join('') === secret,
  async product() {
    const stream = createStreamRedactor({ redact: createRedactor([secret]), values: [secret] });
    const pieces = [...`say ${secret} end`].map((piece) => stream.push(piece));
    return `${pieces.join('')}${stream.end()}`.includes(secret);
  },
  contained: 'a stream is held back while it could still become a secret',
};

const pattern: Attack = {
  class: 21,
  name: 'a token that the worker recognizes by its shape only',
  unprotected: async () => `found ${secret}`.replaceAll('another-secret', '***').includes(secret),
  product: async () => createRedactor([])(`found ${secret}`).includes(secret),
  contained: 'the shapes of known kinds of tokens',
};

export const secretAttacks: Attack[] = [...tokens, ...disguised, streamed, pattern];
