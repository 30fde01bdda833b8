import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { testPepper } from '../../support/database/build.ts';
import { startWorkerProcess, type WorkerProcess } from '../../support/stack/worker-process.ts';

const execute = promisify(execFile);
const thisFolder = join(import.meta.dirname, '../../..');

/** The code of a release, with its packages. */
export interface Release {
  name: string;
  folder: string;
}

export interface ApiOfRelease extends AsyncDisposable {
  baseUrl: string;
}

export const thisRelease: Release = { name: 'new', folder: thisFolder };

/** Checks a commit out into a new folder and installs its packages. */
export async function checkOut(commit: string, folder: string): Promise<Release> {
  await execute('git', ['clone', '--quiet', '--no-checkout', thisFolder, folder]);
  await execute('git', ['checkout', '--quiet', '--detach', commit], { cwd: folder });
  await execute('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  return { name: 'old', folder };
}

/** Brings a database to the schema of a release, as its operator does. */
export async function migrateWith({ folder }: Release, databaseUrl: string): Promise<void> {
  await execute(process.execPath, ['db/migrate-main.ts'], { cwd: folder, env: { DATABASE_URL: databaseUrl } });
}

export async function startApi({ folder }: Release, env: NodeJS.ProcessEnv): Promise<ApiOfRelease> {
  const api = await startWorkerProcess(
    { PORT: '0', DOCKET_KEY_PEPPER: testPepper, ...env },
    join(folder, 'api/main.ts'),
  );
  await api.said('"msg":"api ready"');
  const port = /"port":(\d+)[^\n]*"msg":"api ready"/.exec(api.output())?.[1];
  return { baseUrl: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

export async function startWorker({ folder }: Release, env: NodeJS.ProcessEnv): Promise<WorkerProcess> {
  const worker = await startWorkerProcess(env, join(folder, 'worker/main.ts'));
  await worker.said('"msg":"worker ready"');
  return worker;
}

const provisionedSchema = z.object({ projectId: z.string(), key: z.string() });

/** Creates a project and an admin key with the stores of a release. */
export async function provision(
  { folder }: Release,
  { databaseUrl, repository }: { databaseUrl: string; repository: string },
): Promise<z.infer<typeof provisionedSchema>> {
  const { stdout: files } = await execute(
    'git',
    ['ls-files', 'test/support/build.ts', 'test/support/database/build.ts'],
    {
      cwd: folder,
    },
  );
  const program = `
    import pg from 'pg';
    import { buildKey, buildProject } from ${JSON.stringify(join(folder, files.trim()))};
    const pool = new pg.Pool({ connectionString: ${JSON.stringify(databaseUrl)} });
    const { id, organizationId } = await buildProject(pool, { repository: ${JSON.stringify(repository)}, forge: 'local' });
    const { key } = await buildKey(pool, { organizationId });
    console.log(JSON.stringify({ projectId: id, key }));
    await pool.end();`;
  const { stdout } = await execute(process.execPath, ['--input-type=module', '--eval', program], { cwd: folder });
  return provisionedSchema.parse(JSON.parse(stdout));
}
