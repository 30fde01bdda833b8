import { execFile } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { flag, readTool } from '../../../lib/inputs/tool-arguments.ts';
import { createSampleRepository } from '../../../local/sample-repository.ts';
import { runDocket } from '../../support/stack/docket-process.ts';
import { buildImages } from './images.ts';
import { openCompose, type ComposeStack } from './stack.ts';

/**
 * `npm run compose [-- --no-build]`: builds the image, or takes the one of an earlier run, runs `docker-compose.yml`, and does on it what the pages of `deploy/` say: a job, a
 * question, a rolling upgrade under a job, a backup and a restore. Needs root and Debian's buildah, podman, crun and mmdebstrap.
 */

const execute = promisify(execFile);
const secret = () => randomBytes(24).toString('hex');
const inContainer = '/var/lib/docket/repositories';
const jobSchema = z.object({
  id: z.string(),
  status: z.string(),
  prLink: z.string().nullable(),
  details: z.object({ message: z.string().nullable(), incomplete: z.string().nullable() }),
});
type Job = z.infer<typeof jobSchema>;

interface Service {
  stack: ComposeStack;
  projectId: string;
  adminKey: string;
  assistantKey: string;
}

const results: string[] = [];
async function step<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const begun = Date.now();
  const result = await work();
  results.push(name);
  console.log(`ok  ${name} (${Math.round((Date.now() - begun) / 1_000)} s)`);
  return result;
}

/** A command of the operator, in the container. */
async function operate(stack: ComposeStack, ...args: string[]): Promise<unknown> {
  return JSON.parse(await stack.exec('api', ['node', 'cli/docket.ts', ...args, '--json']));
}

/** A command over HTTP, from this machine. */
async function docket(stack: ComposeStack, key: string, line: string): Promise<unknown> {
  const env = { DOCKET_URL: `http://${stack.addressOf('api')}:8080`, DOCKET_API_KEY: key };
  const { out, error, code } = await runDocket([...line.split(' '), '--json'], env);
  if (code !== 0) throw new Error(`docket ${line}: ${error}`);
  return JSON.parse(out);
}

/** Runs a program of each toolchain of the image; a file of the change has what they print. */
const toolchains = [
  'exec > tools.txt',
  'git --version',
  `node -p '"node " + 6 * 7'`,
  `python3 -c 'print("python", 6 * 7)'`,
  `echo '#include <stdio.h>' > /tmp/a.c`,
  `echo 'int main(void) { return puts("c 42") < 0; }' >> /tmp/a.c`,
  'gcc -o /tmp/a /tmp/a.c && /tmp/a',
  'g++ -o /tmp/b -x c++ /tmp/a.c && /tmp/b | sed s/c/c++/',
  'uv --version',
  `python3 -m venv --without-pip /tmp/venv && /tmp/venv/bin/python -c 'print("venv", 6 * 7)'`,
].join(' && ');

const createdSchema = z.object({ id: z.string(), adminKey: z.string() });
const idOf = (value: unknown) => z.object({ id: z.string() }).parse(value).id;
const keyOf = (value: unknown) => z.object({ key: z.string() }).parse(value).key;

async function ask(service: Service, path: string, body?: unknown, key = service.adminKey): Promise<Response> {
  const response = await fetch(`http://${service.stack.addressOf('api')}:8080${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    // a connection that is kept ends without a sign when its container does
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  if (!response.ok) throw new Error(`${path} answers ${response.status}: ${await response.text()}`);
  return response;
}

async function createJob(service: Service, prompt: string): Promise<Job> {
  return jobSchema.parse(await (await ask(service, `/v2/agent/${service.projectId}/job`, { prompt })).json());
}

async function ended(service: Service, id: string): Promise<Job> {
  for (let left = 180; left > 0; left -= 1) {
    const job = jobSchema.parse(await (await ask(service, `/v2/agent/${service.projectId}/job/${id}`)).json());
    if (job.status !== 'active') return job;
    await delay(1_000);
  }
  throw new Error(`The job ${id} does not end.\n${await service.stack.logs('worker')}`);
}

async function completed(service: Service, id: string, said: string): Promise<void> {
  const job = await ended(service, id);
  if (
    job.status !== 'completed' ||
    job.prLink === null ||
    job.details.incomplete !== null ||
    !job.details.message?.includes(said)
  )
    throw new Error(`The job did not do its work: ${JSON.stringify(job)}`);
}

async function answered(service: Service): Promise<void> {
  const parts = [{ type: 'text', text: 'How do I run a scene?' }];
  const body = { fp: 'anonymous', messages: [{ id: '1', role: 'user', parts }] };
  const response = await ask(service, '/discovery/v2/assistant/docs/message', body, service.assistantKey);
  const text = await response.text();
  if (!text.includes('"type":"finish"') || !text.includes('"type":"source-url"')) throw new Error(`No answer: ${text}`);
}

/** The steps of docs/operations/upgrade.md, from v1 to v2, while a job is under way. */
async function rollOut(service: Service): Promise<void> {
  const { stack } = service;
  const next = { DOCKET_BUILD_ID: 'v2', DOCKET_NEXT_BUILD_ID: 'v2' };
  const temporal = (...args: string[]) => stack.run('temporal-namespace', ['temporal', ...args]);
  const under = await createJob(service, 'Run "sleep 20; echo slept". Create upgraded.md with "during"');
  await stack.run('migrate', ['node', 'db/migrate-main.ts'], next);
  await stack.up(['worker-next'], next);
  const current = ['worker', 'deployment', 'set-current-version', '-n', 'docket', '--deployment-name', 'docket-worker'];
  for (let left = 30; ; left -= 1) {
    try {
      await temporal(...current, '--build-id', 'v2', '--yes');
      break;
    } catch (error) {
      if (left === 0) throw error;
      await delay(1_000);
    }
  }
  await stack.stop('api');
  await stack.up(['api'], next);
  const after = await createJob(service, 'Create after.md with "on v2"');
  await completed(service, after.id, 'after.md');
  await completed(service, under.id, 'upgraded.md');
  await stack.stop('worker');
  await stack.up(['worker'], next);
  await stack.stop('worker-next');
}

/** The steps of docs/operations/backup.md: all of PostgreSQL in one file, and a machine that has nothing but that file and the secrets. */
async function restore({ stack }: Service, change: Record<string, string>): Promise<void> {
  const whole = await stack.exec('postgres', ['pg_dumpall', '-U', 'postgres', '--clean', '--if-exists']);
  // what the page looks for: psql takes half a dump without an error
  if (
    !whole
      .split('\n')
      .slice(-9)
      .some((line) => line.includes('cluster dump complete'))
  )
    throw new Error('The dump does not end as docs/operations/backup.md says.');
  const dump = whole.replaceAll(/^(?:DROP|CREATE) ROLE (?:IF EXISTS )?postgres;$/gm, '');
  for (const name of ['worker', 'api', 'temporal', 'postgres']) await stack.stop(name);
  for (const volume of ['postgres', 'work']) await stack.removeVolume(volume);
  await stack.up(['postgres'], change);
  await stack.exec('postgres', ['psql', '-q', '-U', 'postgres', '-v', 'ON_ERROR_STOP=1'], dump);
  await stack.up(['temporal', 'api', 'worker'], change);
}

async function main(): Promise<void> {
  const { options: values } = readTool({
    command: 'npm run compose --',
    about:
      'Runs docker-compose.yml and does on it what the pages of the operator say. ' +
      "Needs root and Debian's buildah, podman, crun and mmdebstrap.",
    options: { 'no-build': flag().describe('takes the images of an earlier run') },
  });
  await using resources = new AsyncDisposableStack();
  await step('images', () => buildImages(values['no-build'] ? [] : ['docket:v1', 'docket:v2']));
  const repositories = await mkdtemp(join(tmpdir(), 'docket-compose-repositories-'));
  resources.defer(() => rm(repositories, { recursive: true, force: true }));
  await createSampleRepository({ directory: repositories });
  await execute('chown', ['-R', '1000:1000', repositories]);
  await chmod(repositories, 0o755);
  await chown(repositories, 1000, 1000);
  const files = await mkdtemp(join(tmpdir(), 'docket-compose-files-'));
  resources.defer(() => rm(files, { recursive: true, force: true }));
  await chmod(files, 0o755);
  const key = join(files, 'github-app.pem');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(key, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  await chown(key, 1000, 1000);
  await writeFile(join(files, 'prices.json'), JSON.stringify({ 'compatible/own': { input: 1, output: 2 } }));
  const stack = resources.use(
    await openCompose({
      POSTGRES_PASSWORD: secret(),
      TEMPORAL_DB_PASSWORD: secret(),
      DOCKET_DB_PASSWORD: secret(),
      DOCKET_KEY_PEPPER: secret(),
      DOCKET_ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      DOCKET_BUILD_ID: 'v1',
      DOCKET_LOCAL_REPOSITORIES: repositories,
      DOCKET_FILES: files,
      DOCKET_MODEL_PRICES: '/var/lib/docket/files/prices.json',
      GITHUB_APP_ID: '1',
      GITHUB_APP_PRIVATE_KEY_FILE: key,
    }),
  );
  await step('up', () => stack.up(['api', 'worker']));
  await step('the first build id is made the current one', async () => {
    const args = ['worker', 'deployment', 'set-current-version', '-n', 'docket', '--deployment-name', 'docket-worker'];
    await stack.run('temporal-namespace', ['temporal', ...args, '--build-id', 'v1', '--yes']);
  });
  const service = await step('an organization with a project, a site and keys', async (): Promise<Service> => {
    const repository = `${inContainer}/lamp.git`;
    const { id: org, adminKey } = createdSchema.parse(await operate(stack, 'org', 'create', '--name', 'Acme'));
    await operate(stack, 'org', 'grant', org, repository);
    const projectId = idOf(await docket(stack, adminKey, `project create --repository ${repository}`));
    await docket(stack, adminKey, `site create --domain docs --repository ${repository} --path docs`);
    await docket(stack, adminKey, 'site index docs --wait');
    const assistantKey = keyOf(await docket(stack, adminKey, 'key create --kind assistant'));
    return { stack, projectId, adminKey, assistantKey };
  });
  await step('a job with a command in the sandbox ends in a pull request', async () => {
    const { id } = await createJob(service, 'Run "id -u && git --version". Create built.md with "in a container"');
    await completed(service, id, 'built.md');
  });
  await step('a command finds the toolchains of the image, and they work', async () => {
    const { id } = await createJob(service, `Run ${JSON.stringify(toolchains)}. Create tools.md with "in a container"`);
    await completed(service, id, 'tools.md');
    const change = await (await ask(service, `/v2/agent/${service.projectId}/job/${id}/diff`)).text();
    for (const made of ['+git version 2', '+node 42', '+python 42', '+c 42', '+c++ 42', '+uv 0', '+venv 42'])
      if (!change.includes(`\n${made}`)) throw new Error(`The command did not write "${made}": ${change}`);
  });
  await step('a question is answered from the pages', () => answered(service));
  await step('a rolling upgrade under a job', () => rollOut(service));
  const kept = await createJob(service, 'Create kept.md with "before the backup"');
  await completed(service, kept.id, 'kept.md');
  await step('a backup is restored on an empty machine', () => restore(service, { DOCKET_BUILD_ID: 'v2' }));
  await step('after it, jobs are read, run and questions answered', async () => {
    await completed(service, kept.id, 'kept.md');
    await answered(service);
    const { id } = await createJob(service, 'Create restored.md with "again"');
    await completed(service, id, 'restored.md');
  });
}

try {
  await main();
  console.log(`\n${results.length} passed, 0 failed`);
} catch (error) {
  console.error(error);
  console.log(`\n${results.length} passed, 1 failed`);
  process.exitCode = 1;
}
