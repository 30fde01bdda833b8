import { operatorOf } from '../../../db/caller.ts';
import { createProjectToolStore, type McpServer } from '../../../db/organizations/project-tools.ts';
import { createSecretBox } from '../../../lib/encryption/secret-box.ts';
import { environmentPath } from '../../../lib/environments/environment.ts';
import { buildProject } from '../../support/database/build.ts';
import { join } from 'node:path';
import { Pool } from 'pg';
import type { FakeGithub } from '../../support/forges/fake-github.ts';
import { createTestRepository, type TestRepository } from '../../support/git-repository.ts';
import { plannedEnvironments, plannedServer } from './plans/special-plans.ts';

export interface SceneRepository {
  repository: TestRepository;
  projectId: string;
  baseCommit: string;
  /** The content of its forge. `link` is the end of the address. */
  pullRequests(): Promise<{ head: string; body: string; link: string }[]>;
}

export interface Scene extends AsyncDisposable {
  pool: Pool;
  repositories: SceneRepository[];
}

const notes = 16;
const linesOfNote = 40;

/** The content of the repositories: notes with many lines, each of which occurs once in its file. */
export function repositoryFiles(index: number): Map<string, string> {
  const files = Array.from({ length: notes }, (_, note): [string, string] => {
    const lines = Array.from({ length: linesOfNote }, (_, line) => `Line ${line + 1} of note ${note} in ${index}.\n`);
    return [`notes/${note % 4}/note-${note}.md`, `# Note ${note}\n\n${lines.join('')}`];
  });
  return new Map(files);
}

export interface Place {
  /** Repositories are created below it. */
  home: string;
  databaseUrl: string;
  /** The organization whose keys the client uses. */
  organizationId: string;
}

/** The MCP server of special plans: at a URL, or a command. */
export type PlannedAddress = Pick<McpServer, 'url' | 'command'>;

/**
 * Creates a repository with a project for each set of files. With an MCP server, there is everything that special plans
 * need: branches with a setup, and the server in each project.
 */
export async function setScene(
  place: Place,
  contents: ReadonlyMap<string, string>[],
  server: PlannedAddress | null = null,
): Promise<Scene> {
  await using made = new AsyncDisposableStack();
  const pool = new Pool({ connectionString: place.databaseUrl, max: 3 });
  pool.on('error', () => undefined); // the server is killed
  made.defer(() => pool.end());
  const { organizationId } = place;
  const repositories: SceneRepository[] = [];
  for (const [index, files] of contents.entries()) {
    const path = join(place.home, 'repositories', `notes-${index}.git`);
    const repository = made.use(await createTestRepository(Object.fromEntries(files), { path }));
    const name = `Notes ${index}`;
    const project = await buildProject(pool, { organizationId, name, repository: repository.path, forge: 'local' });
    const baseCommit = await repository.git('rev-parse', 'refs/heads/main');
    if (server !== null) await addSpecial(pool, { organizationId, projectId: project.id, repository, address: server });
    const pullRequests = async () => {
      const { rows } = await pool.query<{ head: string; body: string; link: string }>(
        `select head, body, '/pulls/' || id as link from pull_requests where repository = $1`,
        [repository.path],
      );
      return rows;
    };
    repositories.push({ repository, projectId: project.id, baseCommit, pullRequests });
  }
  const kept = made.move();
  return { pool, repositories, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

async function addSpecial(
  pool: Pool,
  {
    organizationId,
    projectId,
    repository,
    address,
  }: Pick<Place, 'organizationId'> & {
    projectId: string;
    repository: TestRepository;
    address: PlannedAddress;
  },
): Promise<void> {
  for (const { branch, content } of plannedEnvironments) {
    await repository.git('update-ref', `refs/heads/${branch}`, 'refs/heads/main');
    await repository.commit({ [environmentPath]: content }, { branch });
  }
  const server = {
    name: plannedServer.name,
    ...address,
    tools: null,
    readOnly: 'annotated' as const,
    ...(address.url === null ? { env: [] } : { headers: [] }),
  };
  const tools = createProjectToolStore(pool, createSecretBox([]));
  await tools.replaceServers(operatorOf({ organizationId }), projectId, [server]);
}

/** The same with one repository on a server with GitHub's API, whose address is `origin`. */
export async function setGithubScene(
  place: Place,
  github: FakeGithub,
  { origin, files }: { origin: string; files: ReadonlyMap<string, string> },
): Promise<Scene> {
  const pool = new Pool({ connectionString: place.databaseUrl, max: 3 });
  pool.on('error', () => undefined);
  const repository = await github.addRepository('acme/notes', Object.fromEntries(files));
  const project = await buildProject(pool, {
    organizationId: place.organizationId,
    name: 'Notes',
    repository: `${origin}/acme/notes`,
    forge: 'github',
  });
  const baseCommit = await repository.git('rev-parse', 'refs/heads/main');
  const pullRequests = () =>
    Promise.resolve(
      github.pullRequests('acme/notes').map(({ head, body, number }) => ({ head, body, link: `/pull/${number}` })),
    );
  return {
    pool,
    repositories: [{ repository, projectId: project.id, baseCommit, pullRequests }],
    [Symbol.asyncDispose]: () => pool.end(),
  };
}
