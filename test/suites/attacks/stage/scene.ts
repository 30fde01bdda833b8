import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestRepository, type TestFiles, type TestRepository } from '../../../support/git-repository.ts';

/** A scene for an attack: what must not be reached, and the tree of a repository next to it. */
export interface Scene extends AsyncDisposable {
  directory: string;
  /** The text that must not be revealed. */
  canary: string;
  /** Contains the canary and is outside the tree. */
  secretFile: string;
  /** A file that only a hostile command creates. */
  mark: string;
  tree: string;
  /** Reports whether a hostile command ran. */
  ran(): boolean;
  /** Whether the file outside has changed. */
  isChanged(): Promise<boolean>;
  /** A repository that lives as long as the scene. */
  repository(files?: TestFiles, options?: { path?: string }): Promise<TestRepository>;
  /** A server on loopback that returns the canary. */
  server(): Promise<CanaryServer>;
  /** Runs something when the scene ends. */
  defer(end: () => unknown): void;
}

export interface CanaryServer {
  port: number;
  /** Requested paths. */
  hits: string[];
}

export async function createScene(): Promise<Scene> {
  const cleanup = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'docket-attack-'));
  cleanup.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
  const canary = `canary-${randomUUID()}`;
  const secretFile = join(directory, 'outside', 'secret.txt');
  const mark = join(directory, 'executed');
  const tree = join(directory, 'tree');
  await mkdir(join(directory, 'outside', 'folder'), { recursive: true });
  await mkdir(join(tree, 'docs'), { recursive: true });
  await writeFile(secretFile, `${canary}\n`);
  await writeFile(join(directory, 'outside', 'folder', 'note.txt'), `${canary}\n`);
  await writeFile(join(tree, 'docs', 'page.md'), 'a page\n');
  return {
    directory,
    canary,
    secretFile,
    mark,
    tree,
    ran: () => existsSync(mark),
    isChanged: async () => (await readFile(secretFile, 'utf8').catch(() => '')) !== `${canary}\n`,
    async repository(files, options) {
      return cleanup.use(await createTestRepository(files, options));
    },
    async server() {
      const hits: string[] = [];
      const server = createServer((request, response) => {
        hits.push(request.url ?? '');
        response.end(canary);
      });
      server.listen(0, '::');
      await once(server, 'listening');
      cleanup.defer(() => {
        server.closeAllConnections();
        server.close();
      });
      return { port: (server.address() as AddressInfo).port, hits };
    },
    defer: (end) => void cleanup.defer(async () => void (await end())),
    [Symbol.asyncDispose]: () => cleanup.disposeAsync(),
  };
}

/** Runs a program carelessly: with the worker's environment, ignoring failures. */
export function carelessly(
  file: string,
  args: readonly string[],
  { cwd, env = {}, input }: { cwd: string; env?: Record<string, string>; input?: string },
): Promise<string> {
  const identity = {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b.c',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b.c',
  };
  const settings = {
    cwd,
    env: { PATH: process.env['PATH'], HOME: cwd, GIT_TERMINAL_PROMPT: '0', ...identity, ...env },
  };
  return new Promise((resolve) => {
    const child = execFile(file, args, { ...settings, timeout: 60_000, maxBuffer: 1 << 26 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
    child.stdin?.on('error', () => {});
    child.stdin?.end(input ?? '');
  });
}

/** Returns the result of a promise, or null if it is rejected. */
export async function answered<Value>(promise: Promise<Value>): Promise<Value | null> {
  try {
    return await promise;
  } catch {
    return null;
  }
}
