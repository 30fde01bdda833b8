import type { TestDatabase } from '../../support/database/database.ts';
import {
  startIssueServer,
  type FakeIssue,
  type IssueServer,
  type IssueServerKind,
} from '../../support/forges/issue-server.ts';
import { token } from '../../support/forges/json-server.ts';
import { startForgeSite, type ForgeSiteOptions, type ForgeSource, type ThreadSite } from './thread-scene.ts';

export interface Tracker extends ThreadSite<ForgeSource> {
  server: IssueServer;
}

export interface Options extends ForgeSiteOptions {
  kind?: IssueServerKind;
  hasToken?: boolean;
}

/** A forge, and a site with its issues below `issues`. */
export async function startTracker(
  database: TestDatabase,
  issues: Record<number, FakeIssue>,
  { kind = 'github', hasToken = true, ...options }: Options = {},
): Promise<Tracker> {
  const server = await startIssueServer(kind, issues);
  const github = { apiUrl: server.origin, token: hasToken ? token : null, app: null };
  const servers = kind === 'github' ? { github } : { [kind]: { url: server.origin, token } };
  return startForgeSite(database, { server, kind: 'issues', servers }, options);
}

/** A closed issue with an answer, both about a word. */
export const answered = (word: string, more: Partial<FakeIssue> = {}): FakeIssue => ({
  title: `About the ${word}`,
  body: `Where does the ${word} live?`,
  comments: [{ body: `The ${word} lives by the river.` }],
  changedAt: 1,
  ...more,
});
