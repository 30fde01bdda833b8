import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { createGit } from '../../../activities/git/git.ts';
import { createFakeGithub } from '../../support/forges/fake-github.ts';
import { loopbackEgress } from '../../support/servers/loopback.ts';
import { access, createTestWorkspaces, live } from '../clients/setup.ts';
import { GitError } from '../../../activities/git/git-error.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let directory: string;
beforeAll(async () => {
  directory = temporaryDirectory();
});

async function script(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, `#!/bin/sh\n${text}\n`);
  await chmod(path, 0o755);
  return path;
}

async function failureOf(promise: Promise<unknown>): Promise<GitError> {
  const error = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(GitError);
  return error as GitError;
}

describe('createGit', () => {
  it('gives git its own environment and nothing of the worker’s', async () => {
    const git = createGit({ gitBinary: await script('dump', 'env'), home: join(directory, 'home') });
    process.env['GIT_SSH_COMMAND'] = 'touch /tmp/never';
    process.env['DOCKET_TEST_SECRET'] = 'worker-secret';
    try {
      const { stdout } = await git.run({ gitDir: directory, args: [], signal: live });
      const names = stdout
        .toString()
        .split('\n')
        .map((line) => line.split('=')[0]);
      expect(names).not.toContain('GIT_SSH_COMMAND');
      expect(stdout.toString()).not.toContain('worker-secret');
      expect(stdout.toString()).toContain('GIT_ALLOW_PROTOCOL=none');
      expect(stdout.toString()).toContain(`GIT_DIR=${directory}`);
    } finally {
      delete process.env['GIT_SSH_COMMAND'];
      delete process.env['DOCKET_TEST_SECRET'];
    }
  });

  it('also finds programs in the folders of the worker’s PATH, apart from relative ones', async () => {
    const module = import.meta.resolve('../../../activities/git/git-environment.ts');
    const program = `import(${JSON.stringify(module)}).then(({ programPath }) => process.stdout.write(programPath))`;
    const env = { PATH: 'bin:/nix/profile/bin::./sbin:/usr/bin' };
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', program], { env });
    expect(stdout).toMatch(/^\/usr\/local\/sbin:.*:\/opt\/local\/bin:\/nix\/profile\/bin$/);
  });

  it('ends the whole process group when the job is stopped', async () => {
    const pidFile = join(directory, 'pids', 'pid');
    const home = join(directory, 'home');
    const gitBinary = await script(
      'stall',
      `mkdir -p ${directory}/pids; sleep 600 & echo $! > ${pidFile}.half; mv ${pidFile}.half ${pidFile}; wait`,
    );
    const controller = new AbortController();
    const running = createGit({ gitBinary, home }).run({ gitDir: directory, args: [], signal: controller.signal });
    await appears(pidFile);
    const pid = Number(await readFile(pidFile, 'utf8'));
    controller.abort();
    expect((await failureOf(running)).kind).toBe('aborted');
    await gone(pid);
  });

  it('stops what takes too long, and what prints too much', async () => {
    const home = join(directory, 'home');
    const slow = createGit({ gitBinary: await script('slow', 'exec sleep 600'), home });
    expect((await failureOf(slow.run({ gitDir: directory, args: [], timeoutMs: 50, signal: live }))).kind).toBe(
      'timeout',
    );
    const loud = createGit({ gitBinary: await script('loud', 'exec yes'), home });
    const { stdout, truncated } = await loud.run({ gitDir: directory, args: [], maxOutputBytes: 1000, signal: live });
    expect([stdout.length, truncated]).toEqual([1000, true]);
    // truncated output is never treated as complete
    expect((await failureOf(loud.run({ gitDir: directory, args: [], signal: live }))).kind).toBe('too-large');
  });

  it('does not start for a job that is already stopped', async () => {
    const mark = join(directory, 'started');
    const git = createGit({ gitBinary: await script('mark', `touch ${mark}`), home: join(directory, 'home') });
    expect((await failureOf(git.run({ gitDir: directory, args: [], signal: AbortSignal.abort() }))).kind).toBe(
      'aborted',
    );
    expect(existsSync(mark)).toBe(false);
  });

  it('reports in one sentence that git is missing', async () => {
    const git = createGit({ gitBinary: join(directory, 'no-such-git'), home: join(directory, 'home') });
    expect((await failureOf(git.run({ gitDir: directory, args: [], signal: live }))).message).toMatch(/install it/);
  });
});

describe('an older git', () => {
  it('connects to nothing, since it would ignore the allowed address', async () => {
    const mark = join(directory, 'connected');
    const gitBinary = await script(
      'older',
      `if [ "$1" = version ]; then echo git version 2.36.6; else touch ${mark}; fi`,
    );
    const git = createGit({ gitBinary, home: join(directory, 'home'), egress: loopbackEgress, transports: ['http'] });
    const remote = 'http://127.0.0.1:1/a/b';
    const call = {
      gitDir: directory,
      args: ['ls-remote', remote],
      transports: ['http'] as const,
      remote,
      signal: live,
    };
    expect((await failureOf(git.run(call))).message).toMatch(/^git 2\.38 or newer/);
    expect(existsSync(mark)).toBe(false);
  });

  it('is named as the reason when it does not know a command', async () => {
    const answers = 'if [ "$1" = version ]; then echo git version 2.34.1; else echo usage >&2; exit 129; fi';
    const git = createGit({ gitBinary: await script('old', answers), home: join(directory, 'home') });
    const call = { gitDir: directory, args: ['merge-tree', '--write-tree', 'a', 'b'], signal: live };
    expect((await failureOf(git.run(call))).message).toMatch(/^git 2\.38 or newer/);
  });
});

describe('the transports of git', () => {
  it.each([
    'ext::sh -c touch% MARK',
    'ext::sh%20-c%20touch%20MARK',
    '--upload-pack=touch MARK',
    '-uMARK',
    'file:///etc',
    'git@localhost:a/b',
    'ssh://localhost/a',
    'git://localhost/a',
    'relative/path',
    'https://user:pass@127.0.0.1/a',
    'https://allowed.com@127.0.0.1/a',
    'HTTPS://x y',
    '',
  ])('refuse %j', async (template) => {
    await using test = await createTestWorkspaces();
    const mark = join(test.directory, 'mark');
    const repository = template.replace('MARK', mark);
    const error = await failureOf(test.workspaces.resolve({ ...access(repository), ref: null }));
    expect(error.kind).toBe('not-found');
    expect(existsSync(mark)).toBe(false);
  });

  it('are disabled in git itself for a command that names none', async () => {
    const git = createGit({ home: join(directory, 'home') });
    const mark = join(directory, 'ext-mark');
    for (const transports of [[], ['https', 'file', 'http']] as const) {
      await failureOf(
        git.run({ gitDir: directory, args: ['ls-remote', `ext::touch ${mark}`], transports, signal: live }),
      );
    }
    const error = await failureOf(git.run({ gitDir: directory, args: ['ls-remote', directory], signal: live }));
    expect(error.detail).toMatch(/transport 'file' not allowed/);
    expect(existsSync(mark)).toBe(false);
  });

  it('do not follow a redirect', async () => {
    await using test = await createTestWorkspaces();
    let reached = 0;
    const target = createServer((_, response) => {
      reached += 1;
      response.end();
    }).listen(0, '127.0.0.1');
    const source = createServer((request, response) => {
      const { port } = target.address() as AddressInfo;
      response.writeHead(302, { location: `http://127.0.0.1:${port}${request.url}` }).end();
    }).listen(0, '127.0.0.1');
    await Promise.all([once(target, 'listening'), once(source, 'listening')]);
    try {
      const { port } = source.address() as AddressInfo;
      const error = await failureOf(test.workspaces.resolve({ ...access(`http://127.0.0.1:${port}/a/b`), ref: null }));
      expect([error.kind, reached]).toEqual(['not-found', 0]);
    } finally {
      target.close();
      source.close();
    }
  });
});

describe('the credential of git', () => {
  it('opens the repository and appears in no argument, environment, trace, file or error', async () => {
    await using github = await createFakeGithub();
    const repository = await github.addRepository('acme/lamp');
    const trace = join(directory, 'trace.json');
    await using test = await createTestWorkspaces({ env: { GIT_TRACE2_EVENT: trace, GIT_TRACE: `${trace}.plain` } });
    const credential = { username: 'x-access-token', token: async () => github.token, origin: github.origin };
    let processesSeen = 0;
    const leaks: string[] = [];
    github.onRequest = ({ operation, authorization }) => {
      if (!operation.startsWith('git') || authorization === null) return;
      for (const pid of existsSync('/proc/self/environ') ? readdirSync('/proc') : []) {
        if (!/^\d+$/.test(pid)) continue;
        for (const name of ['environ', 'cmdline']) {
          const text = readProcess(`/proc/${pid}/${name}`);
          if (text.includes('git-remote-http')) processesSeen += 1;
          if (text.includes(github.token)) leaks.push(`${pid} ${text}`);
        }
      }
    };
    const { commit } = await test.workspaces.resolve({ ...access(repository.url, credential), ref: null });
    expect(commit).toBe(await repository.git('rev-parse', 'main'));
    const traces = `${await readFile(trace, 'utf8')}${await readFile(`${trace}.plain`, 'utf8')}`;
    expect(traces).toContain('git-remote-http');
    expect(traces).not.toContain(github.token);
    expect(leaks).toEqual([]);
    if (existsSync('/proc/self/environ')) expect(processesSeen).toBeGreaterThan(0);
    for (const name of readdirSync(test.directory, { recursive: true, withFileTypes: true })) {
      if (name.isFile()) expect(readFileSync(join(name.parentPath, name.name)).includes(github.token)).toBe(false);
    }

    github.fail({ on: 'git-read', status: 403, body: { message: github.token } });
    const error = await failureOf(test.workspaces.resolve({ ...access(repository.url, credential), ref: 'other' }));
    expect(error.kind).toBe('authentication');
    expect(`${error.stack}${error.detail}${JSON.stringify(error)}`).not.toContain(github.token);
  });

  it('is sent to its own origin only', async () => {
    await using github = await createFakeGithub();
    const repository = await github.addRepository('acme/lamp');
    await using test = await createTestWorkspaces();
    const credential = { username: 'x-access-token', token: async () => github.token, origin: 'https://github.com' };
    const error = await failureOf(test.workspaces.resolve({ ...access(repository.url, credential), ref: null }));
    expect(error.kind).toBe('authentication');
    expect(github.requests.map(({ authorization }) => authorization)).toEqual([null]);
  });

  it('is reported as an authentication failure when it is wrong, and as unusable when it contains a line break', async () => {
    await using github = await createFakeGithub();
    const repository = await github.addRepository('acme/lamp');
    await using test = await createTestWorkspaces();
    for (const token of ['wrong-token-1', 'a\nhost=evil']) {
      const credential = { username: 'x-access-token', token: async () => token, origin: github.origin };
      const error = await failureOf(test.workspaces.resolve({ ...access(repository.url, credential), ref: null }));
      expect(error.kind).toBe('authentication');
    }
  });
});

function readProcess(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

async function appears(path: string): Promise<void> {
  while (!existsSync(path)) await delay(5);
}

async function gone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    // A zombie process counts as gone
    if (/^\d+ \(.*\) Z/.test(readProcess(`/proc/${pid}/stat`))) return;
    await delay(5);
  }
}
