import { resolve } from 'node:path';
import { parseKey } from '../db/organizations/key-format.ts';
import { createPool } from '../db/pool.ts';
import { operatorOf } from '../db/caller.ts';
import { createOrganizationDirectory } from '../db/for-operator/organizations.ts';
import { createSessionStore } from '../db/organizations/sessions.ts';
import { updateMovedFolders } from './moved-folders.ts';
import { watchDisk } from './disk-space.ts';
import { lostSecrets, openHome, readEncryptionKey, readKeyPepper } from './home.ts';
import { readLocalJson, writeLocalJson } from './local-json.ts';
import type { ChildName, LocalJson } from './local-json.ts';
import { checkPort, findFreePort, isPortBlocked } from './processes/ports.ts';
import { provision, type Provisioned } from './provision.ts';
import {
  apiSpec,
  documentationBelow,
  serviceEnvironment,
  siteDirectoriesOf,
  untilSiteAnswers,
  workerSpec,
} from './processes/services.ts';
import { readSettings } from './settings.ts';
import type { StackSettings } from './settings.ts';
import { openChildren } from './processes/stack-children.ts';
import { startDatabase, startTemporalServer } from './stack-servers.ts';
import { StartError } from './start-error.ts';
import { createSteps } from './steps.ts';
import { superviseProcess } from './processes/supervised-process.ts';
import type { ProcessSpec, SupervisedProcess } from './processes/supervised-process.ts';
import type { Output } from './temporal/terminal.ts';
import { allOf } from '../lib/all-of.ts';

export interface StackOptions extends Partial<Output> {
  /** Folder of all the stack's data. */
  home: string;
  env: NodeJS.ProcessEnv;
  /** Cancels a start in progress. A running stack is disposed of by its owner. */
  signal?: AbortSignal;
  /**
   * Runs a stack for one short use: it empties its home first, uses any free port and has no Temporal web interface.
   */
  isDemo?: boolean;
}

export interface Stack extends AsyncDisposable {
  /** Current contents of `local.json`. */
  readonly localJson: LocalJson;
  /** One-time link that signs in to the dashboard and expires soon. The part after the # is sent to no server. */
  readonly signInUrl: string;
  readonly api: SupervisedProcess;
  readonly worker: SupervisedProcess;
}

/**
 * Starts PostgreSQL, Temporal, the API and the worker on this machine and keeps them running until disposed of. Uses
 * the servers that `DATABASE_URL` and `TEMPORAL_ADDRESS` name instead of starting its own. Throws StartError with one
 * sentence.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { env, log = console.log, redraw, signal = new AbortController().signal, isDemo = false } = options;
  const settings = readSettings(env);
  await using started = new AsyncDisposableStack();
  const home = started.use(await openHome(options.home));
  const known = isDemo ? null : await readLocalJson(home.directory);
  const children = started.use(await openChildren({ home, log, signal, isFresh: isDemo }));
  started.use(watchDisk(home.directory, log));
  const http = await chooseAddress(settings, isDemo);
  const steps = createSteps(log);

  const servers = { settings, home, known, children, started, steps };
  const [databaseUrl, temporal] = await allOf([
    startDatabase(servers),
    startTemporalServer({ ...servers, env, log, redraw, signal, isHeadless: isDemo }),
  ]);
  signal.throwIfAborted();

  if (known !== null) for (const line of await lostSecrets(home.directory, settings)) log(line);
  const keyPepper = settings.keyPepper ?? (await readKeyPepper(home.directory));
  const encryptionKeys = settings.encryptionKeys ?? (await readEncryptionKey(home.directory));
  const localRepositories = settings.localRepositories ?? home.repositories;
  const environment = serviceEnvironment({
    env,
    databaseUrl,
    temporalAddress: temporal.address,
    keyPepper,
    encryptionKeys,
    temporalUiUrl: temporal.uiUrl,
    http,
    workDirectory: home.work,
    localRepositories,
  });
  const folders = { repositories: resolve(localRepositories), directories: siteDirectoriesOf(environment) };
  await updateMovedFolders({ databaseUrl, known, folders });
  const services: SupervisedProcess[] = [];
  started.defer(async () => {
    await Promise.all(services.map((service) => service[Symbol.asyncDispose]()));
  });
  const startService = async (name: ChildName, spec: ProcessSpec) => {
    const service = await steps.run(spec.name, () => superviseProcess(spec, children.hooksOf(name)));
    services.push(service);
    return service;
  };
  const describe = (provisioned: Provisioned): LocalJson => ({
    baseUrl: http.baseUrl,
    dashboardUrl: `${http.baseUrl}/`,
    ...provisioned,
    temporalAddress: temporal.address,
    temporalUiUrl: temporal.uiUrl,
    databaseUrl,
    folders,
    pids: children.pids(),
  });
  /** Records the keys even if another part of the start fails: the next start would create others. */
  const provisionAndRecord = async () => {
    const made = await provisionOnce({
      databaseUrl,
      keyPepper,
      repositories: localRepositories,
      documentation: isDemo ? null : documentationBelow(folders.directories),
      known,
    });
    await children.onChange(() => writeLocalJson(home.directory, describe(made.provisioned)));
    return made;
  };
  const [api, worker, { provisioned, signInLink }] = await allOf([
    startService('api', apiSpec(environment, http.probeUrl)),
    startService('worker', workerSpec(environment)),
    provisionAndRecord(),
  ]);
  signal.throwIfAborted();
  await steps.run('Sample site', () => untilSiteAnswers({ probeUrl: http.probeUrl, ...provisioned, log, signal }));
  const running = started.move();
  return {
    get localJson() {
      return describe(provisioned);
    },
    signInUrl: `${http.baseUrl}/sign-in#link=${signInLink}`,
    api,
    worker,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function chooseAddress({ http }: StackSettings, isDemo: boolean) {
  const wanted = isDemo ? 0 : http.port;
  if (wanted !== 0) await checkPort(wanted, http.host);
  if (await isPortBlocked(wanted))
    throw new StartError(`Browsers refuse to open port ${wanted}. Set PORT to another one, such as 8080.`);
  const port = wanted === 0 ? await findFreePort() : wanted;
  const isEverywhere = http.host === '0.0.0.0' || http.host === '::';
  const name = isEverywhere ? '127.0.0.1' : http.host;
  const probeUrl = `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
  return { port, host: http.host, probeUrl, baseUrl: isDemo ? probeUrl : (http.baseUrl ?? probeUrl) };
}

async function provisionOnce(
  options: Omit<Parameters<typeof provision>[0], 'pool'> & { databaseUrl: string },
): Promise<{ provisioned: Provisioned; signInLink: string }> {
  const pool = createPool({ url: options.databaseUrl, maxConnections: 2, applicationName: 'docket-start' });
  try {
    const provisioned = await provision({ pool, ...options });
    const keyId = parseKey(provisioned.adminKey)?.id ?? '';
    const owner = await createOrganizationDirectory(pool).ownerOfKey(keyId);
    if (owner === null) throw new Error('The admin key that was just created is missing.');
    const sessions = createSessionStore(pool, options.keyPepper);
    return { provisioned, signInLink: await sessions.createLink(operatorOf(owner), { keyId }) };
  } finally {
    await pool.end();
  }
}
