import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitCredential } from '../../../activities/git/git-credential.ts';
import type { OwnPath } from '../../../activities/workspaces/own-paths.ts';
import type { Snapshot } from '../../../db/for-worker/snapshots.ts';
import { createFakeGithub, type FakeGithub } from '../../support/forges/fake-github.ts';
import { createTestRepository, type TestRepository } from '../../support/git-repository.ts';
import { access, createTestWorkspaces, live, type TestWorkspaces } from './setup.ts';

interface Scene {
  github: FakeGithub;
  test: TestWorkspaces;
  repository: TestRepository;
  url: string;
  credential: GitCredential | null;
  commit: string;
  /** Creates a snapshot that writes `text` to `edit.txt`. */
  snapshot(text: string, from?: Snapshot): Promise<Snapshot>;
  publish(snapshot: Snapshot, options?: Partial<PublishOptions>): Promise<{ commit: string; snapshot: Snapshot }>;
  /** Pushes that were allowed to start. */
  pushes: string[];
}

interface PublishOptions {
  jobId: string;
  message: string;
  published: { commit: string; snapshot: Snapshot } | null;
  isFurther: boolean;
  checkPaths(paths: OwnPath[]): void;
  workspaces: TestWorkspaces['workspaces'];
  beforePush(): Promise<void>;
}

/** A repository on a forge, with a job that publishes to it. */
export async function scene(forge: 'local' | 'github', act: (scene: Scene) => Promise<void>): Promise<void> {
  await using github = await createFakeGithub();
  await using test = await createTestWorkspaces();
  const hosted = forge === 'github' ? await github.addRepository('acme/lamp') : null;
  await using repository = hosted ?? (await createTestRepository());
  const url = hosted?.url ?? repository.path;
  const token = async () => github.token;
  const credential = hosted === null ? null : { username: 'x-access-token', token, origin: github.origin };
  const { commit } = await test.workspaces.resolve({ ...access(url, credential), ref: null });
  const pushes: string[] = [];
  await act({
    github,
    test,
    repository,
    url,
    credential,
    commit,
    pushes,
    async snapshot(text, from) {
      const opened = await test.workspaces.open({
        ...access(url, credential),
        jobId: 'job',
        baseCommit: commit,
        snapshot: from ?? null,
      });
      await writeFile(join(opened.path, 'edit.txt'), text);
      const taken = await test.workspaces.snapshot('job', {
        baseCommit: commit,
        sinceTree: from?.tree ?? null,
        signal: live,
      });
      await opened.release();
      return taken.snapshot!;
    },
    publish: (snapshot, options = {}) =>
      (options.workspaces ?? test.workspaces).publish({
        ...access(url, credential),
        jobId: options.jobId ?? 'job',
        branch: 'docket/job-edit',
        baseCommit: commit,
        snapshot,
        message: options.message ?? 'Edit\n\nAgent-Job: job\n',
        author: { name: 'Docket', email: 'docket@example.com', date: new Date('2026-01-02T03:04:05Z') },
        published: options.published ?? null,
        isFurther: options.isFurther ?? false,
        checkPaths: options.checkPaths ?? (() => {}),
        beforePush: options.beforePush ?? (async () => void pushes.push(text(snapshot))),
      }),
  });
}

const text = (snapshot: Snapshot) => snapshot.tree;
