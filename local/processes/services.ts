import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { temporalVariables } from '../../lib/temporal/temporal-credentials.ts';
import { forgeVariables } from '../../worker/config/forge-config.ts';
import { parseLogLine } from './log-lines.ts';
import { messageOf } from '../start-error.ts';
import type { ProcessSpec } from './supervised-process.ts';
import { untilSuccess } from './until-success.ts';

const checkout = resolve(import.meta.dirname, '../..');
const exitWithParent = pathToFileURL(join(import.meta.dirname, 'exit-with-parent.ts')).href;
const startTimeoutMs = 180_000;
const indexMs = 60_000;
/**
 * Options of Node for the API; NODE_OPTIONS refuses them. Requests leave short-lived garbage. In the 1 MB that V8 begins with,
 * much of it is taken for long-lived, so polls cost more CPU and p99 rises. 16 MB are no faster, and 5 MB more stay resident.
 */
export const apiOptions = ['--min-semi-space-size=4'];
/** Hides the forge credentials, which only the worker may have. */
const withoutForges = Object.fromEntries(Object.keys(forgeVariables.shape).map((name) => [name, undefined]));
const withoutTemporal = Object.fromEntries(Object.keys(temporalVariables.shape).map((name) => [name, undefined]));

export interface ServiceEnvironment {
  env: NodeJS.ProcessEnv;
  databaseUrl: string;
  temporalAddress: string;
  keyPepper: string;
  encryptionKeys: string;
  temporalUiUrl: string | null;
  http: { port: number; host: string; baseUrl: string };
  workDirectory: string;
  localRepositories: string;
}

/** Returns the environment of the API and the worker: the user's variables and the addresses of this stack. */
export function serviceEnvironment(service: ServiceEnvironment): NodeJS.ProcessEnv {
  return {
    DOCKET_WORK_DIR: service.workDirectory,
    DOCKET_SITE_DIRECTORIES: checkout,
    ...(service.temporalUiUrl === null ? {} : { DOCKET_TEMPORAL_UI_URL: service.temporalUiUrl }),
    ...withoutEmpty(service.env),
    // credentials belong to the server that TEMPORAL_ADDRESS names
    ...(!service.env['TEMPORAL_ADDRESS'] && withoutTemporal),
    DOCKET_LOCAL_REPOSITORIES: service.localRepositories,
    DATABASE_URL: service.databaseUrl,
    TEMPORAL_ADDRESS: service.temporalAddress,
    DOCKET_KEY_PEPPER: service.keyPepper,
    DOCKET_ENCRYPTION_KEYS: service.encryptionKeys,
    PORT: String(service.http.port),
    HOST: service.http.host,
    DOCKET_BASE_URL: service.http.baseUrl,
    DOCKET_SUPERVISOR_PID: String(process.pid),
  };
}

/** Returns the folder that contains the directories of sites. */
export function siteDirectoriesOf(environment: NodeJS.ProcessEnv): string {
  return resolve(environment['DOCKET_SITE_DIRECTORIES'] ?? checkout);
}

/** Returns the folder of Docket's own documentation, or null when no site may read it. */
export function documentationBelow(siteDirectories: string): string | null {
  const folder = join(checkout, 'docs');
  return folder.startsWith(join(siteDirectories, '/')) ? folder : null;
}

/** Describes the API process, which is ready when its readiness probe succeeds. */
export function apiSpec(env: NodeJS.ProcessEnv, probeUrl: string): ProcessSpec {
  return {
    ...nodeProcess('API', 'api/main.ts', { ...env, ...withoutForges }, apiOptions),
    untilReady: ({ signal }) => untilSuccess(() => askReady(`${probeUrl}/readyz`, signal), signal),
  };
}

/** Describes the worker process, which is ready when it polls for work. */
export function workerSpec(env: NodeJS.ProcessEnv): ProcessSpec {
  // the line that it waits for has the level info
  const level = ['trace', 'debug'].find((name) => name === env['LOG_LEVEL']) ?? 'info';
  return {
    // the grace period must be shorter than the stop timeout below
    ...nodeProcess('Worker', 'worker/main.ts', { DOCKET_GRACE_SECONDS: '2', ...env, LOG_LEVEL: level }),
    untilReady: ({ untilLine }) => untilLine((line) => parseLogLine(line)?.message === 'worker ready'),
  };
}

function nodeProcess(
  name: string,
  main: string,
  env: NodeJS.ProcessEnv,
  options: string[] = [],
): Omit<ProcessSpec, 'untilReady'> {
  return {
    name,
    command: process.execPath,
    args: [...options, '--import', exitWithParent, join(checkout, main)],
    env,
    cwd: checkout,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 4_000,
    startTimeoutMs,
  };
}

/** Waits for the first index of the site. A start continues without it after one minute. */
export async function untilSiteAnswers(options: {
  probeUrl: string;
  domain: string;
  assistantKey: string;
  log(line: string): void;
  signal: AbortSignal;
}): Promise<void> {
  const { probeUrl, domain, assistantKey, log, signal } = options;
  const ask = async () => {
    const response = await fetch(`${probeUrl}/discovery/v1/page/${domain}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${assistantKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ path: '/' }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(5_000)]),
    });
    await response.body?.cancel();
    // even a 404 comes from an index
    if (response.status === 503) throw new Error('it has no index yet');
  };
  await untilSuccess(ask, AbortSignal.any([signal, AbortSignal.timeout(indexMs)])).catch((error: unknown) => {
    signal.throwIfAborted();
    log(`The site ${domain} does not answer yet (${messageOf(error)}); worker.log says why.`);
  });
}

async function askReady(url: string, signal: AbortSignal): Promise<void> {
  const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(2_000)]) });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
}

function withoutEmpty(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
}
