import type { Forge, PullRequestDraft } from '../../../activities/forges/forge.ts';
import { createGithubForge } from '../../../activities/forges/github.ts';
import { createTokenCredential } from '../../../activities/forges/github-credential.ts';
import { createGitlabForge } from '../../../activities/forges/gitlab.ts';
import { createLocalForge } from '../../../activities/forges/local-forge.ts';
import { createWorkerPullRequestStore } from '../../../db/for-worker/pull-requests.ts';
import type { TestDatabase } from '../../support/database/database.ts';
import type { FakeForge } from '../../support/forges/fake-forge.ts';
import type { FakeGithub } from '../../support/forges/fake-github.ts';
import { createTestRepository, type TestFiles, type TestRepository } from '../../support/git-repository.ts';
import { live } from './setup.ts';
import { loopbackEgress } from '../../support/servers/loopback.ts';

/** A pull request as stored on the server; its title has no draft prefix. */
export interface SeenPullRequest {
  id: string;
  title: string;
  body: string;
  draft: boolean;
  state: 'open' | 'closed' | 'merged';
  labels: string[];
  assignees: string[];
  reviewers: string[];
}

export interface StageRepository {
  url: string;
  /** Creates branches on top of main; one without files contains nothing that main does not. */
  addBranches(branches: Record<string, TestFiles>): Promise<unknown>;
  /** Adds a commit to main. */
  moveMain(): Promise<unknown>;
  seen(): Promise<SeenPullRequest[]>;
  close(id: string): Promise<unknown>;
  merge(id: string): Promise<unknown>;
  /** The last commit of a branch. */
  commitOf(branch: string): Promise<string>;
  /** Adds a commit to a branch. */
  push(branch: string): Promise<unknown>;
  /** Makes a pull request conflict with main. */
  conflict(id: string): Promise<unknown>;
}

/** A forge for the contract tests: the adapter, and the server behind it seen from the other side. */
export interface Stage {
  name: string;
  /** Whether there is a server that can refuse. */
  isHosted: boolean;
  /** Whether the forge refuses a branch without a change. */
  refusesEmpty: boolean;
  hasMarks: boolean;
  /** Logins: one that can review, and an unknown one. */
  people: { known: string; unknown: string };
  forge(token?: string): Forge;
  /** An address on the server at which nothing exists. */
  missing(): string;
  addRepository(): Promise<StageRepository>;
}

export function localStage(database: () => TestDatabase): Stage {
  let made = 0;
  const store = () => createWorkerPullRequestStore(database().pool);
  return {
    name: 'local',
    isHosted: false,
    refusesEmpty: false,
    hasMarks: false,
    people: { known: 'octavia', unknown: 'nobody' },
    forge: () => createLocalForge({ pullRequests: store(), baseUrl: 'http://docket.test/' }),
    missing: () => '/repositories/none',
    async addRepository() {
      made += 1;
      const url = `/repositories/lamp-${made}`;
      const repository = await createTestRepository();
      const setState = (id: string, state: string) =>
        database().pool.query('update pull_requests set state = $2 where id = $1', [id, state]);
      return {
        url,
        ...branchesOf(repository),
        async seen() {
          const { rows } = await database().pool.query('select * from pull_requests where repository = $1', [url]);
          return rows.map((row) => ({ ...row, labels: [], assignees: [], reviewers: [] }));
        },
        close: (id) => setState(id, 'closed'),
        conflict: async () => {},
        merge: (id) => setState(id, 'merged'),
      };
    },
  };
}

export function githubStage(github: () => FakeGithub): Stage {
  const forge = (token = github().token) =>
    createGithubForge({ credential: createTokenCredential(token), apiUrl: github().apiUrl, egress: loopbackEgress });
  return { ...fakeStage(github), name: 'github', refusesEmpty: true, forge };
}

export function gitlabStage(gitlab: () => FakeForge): Stage {
  const forge = (token = gitlab().token) => createGitlabForge({ token, url: gitlab().origin, egress: loopbackEgress });
  return { ...fakeStage(gitlab), name: 'gitlab', refusesEmpty: false, forge };
}

function fakeStage(fake: () => FakeForge) {
  let made = 0;
  return {
    isHosted: true,
    hasMarks: true,
    people: { known: 'octavia', unknown: 'nobody' },
    missing: () => `${fake().origin}/acme/none`,
    async addRepository(): Promise<StageRepository> {
      made += 1;
      const fullName = `acme/lamp-${made}`;
      const repository = await fake().addRepository(fullName);
      const find = (id: string) => fake().pullRequests(fullName)[Number(id) - 1]!;
      return {
        url: repository.url,
        ...branchesOf(repository),
        seen: async () =>
          fake()
            .pullRequests(fullName)
            .map((one) => ({
              ...one,
              id: String(one.number),
              title: one.title.replace(/^Draft: /, ''),
              state: one.mergedAt === null ? one.state : 'merged',
            })),
        close: async (id) => Object.assign(find(id), { state: 'closed' }),
        conflict: async (id) => Object.assign(find(id), { blocked: 'conflict' }),
        merge: async (id) => Object.assign(find(id), { state: 'closed', mergedAt: '2026-01-01T00:00:00Z' }),
      };
    },
  };
}

export function branchesOf(
  repository: TestRepository,
): Pick<StageRepository, 'addBranches' | 'moveMain' | 'commitOf' | 'push'> {
  return {
    async addBranches(branches) {
      for (const [branch, files] of Object.entries(branches)) {
        await repository.git('update-ref', `refs/heads/${branch}`, 'main');
        if (Object.keys(files).length > 0) await repository.commit(files, { branch });
      }
    },
    moveMain: () => repository.commit({ 'moved.txt': 'moved' }),
    commitOf: (branch) => repository.git('rev-parse', `refs/heads/${branch}`),
    push: (branch) => repository.commit({ 'pushed.txt': 'pushed' }, { branch }),
  };
}

/** A repository with branches for pull requests; `docket/same` contains nothing that main does not. */
export async function addLamp(stage: Stage): Promise<StageRepository> {
  const repository = await stage.addRepository();
  const changes = { 'docket/1': { 'a.txt': 'a' }, 'docket/2': { 'b.txt': 'b' } };
  await repository.addBranches({ trunk: {}, 'docket/same': {}, ...changes });
  return repository;
}

export function draftOf(repository: { url: string }, change: Partial<PullRequestDraft> = {}): PullRequestDraft {
  const text = { title: 'Say hello', body: 'What was asked' };
  return {
    repository: repository.url,
    head: 'docket/1',
    base: 'main',
    ...text,
    previous: [],
    draft: false,
    marks: null,
    signal: live,
    ...change,
  };
}
