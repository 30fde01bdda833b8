import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { archiveName } from '../../../../activities/environment/layer-files.ts';
import type { JobRow } from '../../../../db/jobs/jobs.ts';
import { createProjectToolStore } from '../../../../db/organizations/project-tools.ts';
import { createSetupSecretStore } from '../../../../db/organizations/setup-secrets.ts';
import { createSecretBox } from '../../../../lib/encryption/secret-box.ts';
import { environmentPath } from '../../../../lib/environments/environment.ts';
import { buildProject, operatorOfProject } from '../../../support/database/build.ts';
import { startCommandScene } from '../../../support/sandbox/command-scene.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/database.ts';
import type { TestRepository } from '../../../support/git-repository.ts';
import type { ScriptedToolCall } from '../../../support/servers/scripted-model-server.ts';

const execute = promisify(execFile);

interface SetupStage extends AsyncDisposable {
  database: TestDatabase;
  scene: Awaited<ReturnType<typeof startCommandScene>>;
}

let opened: Promise<SetupStage> | null = null;

/** The worker, with its sandbox, of a test file. */
function setupStage(): Promise<SetupStage> {
  return (opened ??= openStage());
}

export async function closeSetupStage(): Promise<void> {
  await (await opened)?.[Symbol.asyncDispose]();
  opened = null;
}

async function openStage(): Promise<SetupStage> {
  await using made = new AsyncDisposableStack();
  const database = made.use(await createTestDatabase());
  const scene = made.use(await startCommandScene(database));
  const kept = made.move();
  return { database, scene, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

export interface SetupJob {
  repository: TestRepository;
  /** The description of the environment, which is committed; without it, the repository is as it was. */
  environment?: object;
  secrets?: Record<string, string>;
  /** Command of an MCP server of the project. */
  server?: string[];
  /** Calls of the agent, before it finishes. */
  calls?: ScriptedToolCall[];
  /** Project of an earlier job. */
  projectId?: string;
  /** Whether a person approves its plan, or answers its questions. */
  planReview?: boolean;
  mayAsk?: boolean;
}

/** A job that has ended, and everything that it left. */
export interface SeenJob {
  job: JobRow;
  projectId: string;
  /** What the model read. */
  said: string;
  /** The events of the job, with its message. */
  events: string;
  /** The archive of the newest layer of the project, and its entries as tar lists them; null without a layer. */
  layer: { archive: Buffer; listing: string } | null;
  /** Content of the files on the job's branch. */
  files: Record<string, string>;
}

/** Runs a job with a setup, from its description to its pull request. */
export async function runSetupJob(wish: SetupJob): Promise<SeenJob> {
  const { repository, environment, secrets = {}, server, calls = [], projectId, planReview, mayAsk } = wish;
  const { database, scene } = await setupStage();
  const { pool } = database;
  if (environment !== undefined) await repository.commit({ [environmentPath]: JSON.stringify(environment) });
  const project = projectId ?? (await buildProject(pool, { repository: repository.path, forge: 'local' })).id;
  const store = createSetupSecretStore(pool, createSecretBox([]));
  for (const [name, value] of Object.entries(secrets))
    await store.set(await operatorOfProject(pool, project), project, { name, value });
  if (server !== undefined) {
    const wanted = { name: 'tools', url: null, command: server, tools: null, readOnly: 'all' as const };
    const tools = createProjectToolStore(pool, createSecretBox([]));
    await tools.replaceServers(await operatorOfProject(pool, project), project, [wanted]);
  }
  const write = { name: 'write', input: { path: 'new.md', content: 'new\n' } };
  const asked = play(scene, [write, ...calls]);
  const job = await scene.worker.runJob({
    prompt: 'Look',
    repository: repository.path,
    projectId: project,
    planReview,
    mayAsk,
  });
  return seen(job, project, asked());
}

/** Sends another message to a job that has ended. */
export async function continueSetupJob({ job, projectId }: SeenJob, calls: ScriptedToolCall[]): Promise<SeenJob> {
  const { scene } = await setupStage();
  const asked = play(scene, calls);
  return seen(await scene.worker.followUp(job.id, 'Go on'), projectId, asked());
}

/** Lets the model make these calls and then finish. Returns a function that returns what it was sent. */
function play({ model }: SetupStage['scene'], calls: ScriptedToolCall[]) {
  const before = model.requests.length;
  let isFirst = true;
  model.respondWith(() => {
    const finish = { name: 'finish', input: { title: 'Change it', summary: 'Changed.' } };
    const toolCalls = isFirst ? calls : [finish];
    isFirst = false;
    return { toolCalls };
  });
  return () => model.requests.slice(before);
}

async function seen(job: JobRow, projectId: string, requests: { body: unknown }[]): Promise<SeenJob> {
  const { database, scene } = await setupStage();
  const { rows: events } = await database.pool.query('select data from job_events where job_id = $1', [job.id]);
  const { rows: layers } = await database.pool.query<{ key: string }>(
    'select key from environment_layers where project_id = $1 order by used_at desc limit 1',
    [projectId],
  );
  const stored = layers[0] && (await scene.worker.deps.layerFiles.find({ projectId, key: layers[0].key }));
  const archive = stored && join(stored.folder, archiveName);
  const files = await filesOf(job);
  return {
    job,
    projectId,
    said: JSON.stringify(requests.map(({ body }) => body)),
    events: JSON.stringify([events, job.message]),
    layer: archive
      ? { archive: await readFile(archive), listing: (await execute('tar', ['-tvf', archive])).stdout }
      : null,
    files,
  };
}

async function filesOf({ repository, headCommit }: JobRow): Promise<Record<string, string>> {
  if (headCommit === null) return {};
  const git = async (...args: string[]) => (await execute('git', ['--git-dir', repository, ...args])).stdout;
  const paths = (await git('ls-tree', '-r', '-z', '--name-only', headCommit)).split('\0').filter(Boolean);
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, await git('cat-file', '-p', `${headCommit}:${path}`)] as const)),
  );
}
