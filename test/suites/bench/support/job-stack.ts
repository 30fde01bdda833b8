import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'pg';
import { buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestRepository } from '../../../support/git-repository.ts';
import { loadCore, serverCore, startBenchProcess, startService } from './bench-process.ts';
import { createJobClient } from './job-client.ts';
import type { JobClient } from './job-client.ts';
import type { BenchServers } from './servers.ts';
import { apiEnvironment } from './site.ts';

export interface JobStack {
  /** For each organization, a client of each API process. */
  organizations: { id: string; clients: JobClient[] }[];
  pool: Pool;
  pids: { apis: number[]; workers: number[]; database: number; temporal: number };
  /** Resolves when no job is active. */
  untilIdle(): Promise<void>;
}

/** Starts API and worker processes whose model answers after `modelMs`, with a project for each organization. */
export async function startJobStack(
  servers: BenchServers,
  resources: AsyncDisposableStack,
  stack: { apis: number; workers: number; organizations: number; modelMs: number; slots: number },
): Promise<JobStack> {
  const [database, temporal] = await Promise.all([servers.database(), servers.temporal()]);
  const repositories = join(servers.directory, 'repositories');
  const files = Array.from({ length: 50 }, (_, page) => [`docs/page-${page}.md`, `# Page ${page}\n\nText.\n`]);
  const repository = resources.use(
    await createTestRepository(Object.fromEntries(files), { path: join(repositories, `${stack.workers}.git`) }),
  );
  const env = {
    ...apiEnvironment(database.url),
    TEMPORAL_ADDRESS: temporal.address,
    DOCKET_LOCAL_REPOSITORIES: repositories,
    DOCKET_MAX_STEPS: '1000',
    DOCKET_WORKER_SLOTS: String(stack.slots),
    BENCH_MODEL_MS: String(stack.modelMs),
  };
  const startApi = () => startService('api/main.ts', 'api ready', { core: loadCore, env });
  const apis = await Promise.all(Array.from({ length: stack.apis }, async () => resources.use(await startApi())));
  const startWorker = (number: number) => {
    const own = { ...env, DOCKET_WORK_DIR: join(servers.directory, `work-${stack.workers}-${number}`) };
    return startBenchProcess('bench-worker', { core: serverCore, env: own });
  };
  const workers = await Promise.all(
    Array.from({ length: stack.workers }, async (_, number) => resources.use(await startWorker(number))),
  );
  const pool = new Pool({ connectionString: database.url, max: 1 });
  resources.defer(() => pool.end());
  const organizations = [];
  for (let made = 0; made < stack.organizations; made += 1) {
    const project = await buildProject(pool, { repository: repository.path, forge: 'local' });
    const { key } = await buildKey(pool, project);
    const clients = apis.map(({ ready }) =>
      createJobClient({ url: `http://127.0.0.1:${String(ready['port'])}`, key, projectId: project.id }),
    );
    organizations.push({ id: project.organizationId, clients });
  }
  const pids = { database: database.pid, temporal: temporal.pid };
  return {
    organizations,
    pool,
    pids: { ...pids, apis: apis.map(({ pid }) => pid), workers: workers.map(({ pid }) => pid) },
    async untilIdle() {
      for (;;) {
        const { rowCount } = await pool.query(`select from jobs where status = 'active' limit 1`);
        if (rowCount === 0) return;
        await delay(500);
      }
    },
  };
}
