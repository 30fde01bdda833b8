import { Connection } from '@temporalio/client';
import {
  readTemporalCredentials,
  readTemporalSettings,
  type TemporalSettings,
} from '../../lib/temporal/temporal-credentials.ts';
import { directChannel } from '../../lib/temporal/temporal-connection.ts';
import { makePrivateFolder } from '../../lib/private-folder.ts';
import { findFreePort } from '../processes/ports.ts';
import { superviseProcess } from '../processes/supervised-process.ts';
import type { SupervisedProcess, SupervisorHooks } from '../processes/supervised-process.ts';
import type { TemporalBinary } from './temporal-binary.ts';
import { untilSuccess } from '../processes/until-success.ts';

export interface TemporalOptions {
  binary: TemporalBinary;
  /** Folder of the database file. */
  directory: string;
  /** Used if they are free. */
  preferredPort?: number;
  preferredUiPort?: number;
  /** Disables the web interface, for tests. */
  isHeadless?: boolean;
  /** False trades crash safety for speed, for tests. */
  isDurable?: boolean;
  /** Additional dynamic settings of the server as JSON values, for tests. */
  settings?: Readonly<Record<string, string | number | boolean>>;
}

export interface TemporalServer extends AsyncDisposable {
  readonly address: string;
  readonly uiUrl: string | null;
  readonly port: number;
  readonly uiPort: number | null;
  readonly process: SupervisedProcess;
}

/**
 * Raises the limits of a development server, which are those of a shared cluster, because one organization may have
 * many jobs waiting.
 */
const dynamicConfig = {
  'frontend.namespaceRPS': 20_000,
  'frontend.rps': 20_000,
  'frontend.namespaceRPS.visibility': 200,
  'frontend.namespaceCount': 10_000,
  // a queue alternates between organizations
  'matching.enableFairness': true,
  // otherwise the only shard of a development server starts 20 tasks a second, and a lone job waits 200 ms for each
  // step
  'history.transferProcessorMaxPollRPS': 2_000,
  // a timer fires at most this much too late; with the default of a second, a retry after 100 ms waits for a second
  'history.timerProcessorMaxTimeShift': '200ms',
  // if a worker has a free slot, the response to a workflow task carries the next activity, which saves a round trip
  'system.enableActivityEagerExecution': true,
};

/**
 * Starts a Temporal development server on loopback that stores its workflows in a file. Throws StartError when it does
 * not start.
 */
export async function startTemporal(options: TemporalOptions, hooks: SupervisorHooks): Promise<TemporalServer> {
  const { binary, directory, isHeadless = false, isDurable = true, settings = {} } = options;
  makePrivateFolder(directory);
  const port = await findFreePort(options.preferredPort);
  const uiPort = isHeadless ? null : await findFreePort(options.preferredUiPort);
  const address = `127.0.0.1:${port}`;
  // The server creates the schema of its file once and never migrates it, so each release has its own file. It reads the
  // name as part of a URI, which a # or ? in the path of the folder would cut off.
  const file = `temporal-${binary.serverVersion.major}.${binary.serverVersion.minor}.db`;

  const supervised = await superviseProcess(
    {
      name: 'Temporal',
      command: binary.path,
      args: [
        'server',
        'start-dev',
        '--ip=127.0.0.1',
        `--port=${port}`,
        `--db-filename=${file}`,
        '--sqlite-pragma=journal_mode=wal',
        `--sqlite-pragma=synchronous=${isDurable ? 2 : 0}`,
        '--log-level=error',
        '--log-format=json',
        uiPort === null ? '--headless' : `--ui-port=${uiPort}`,
        ...Object.entries({ ...dynamicConfig, ...settings }).map(
          ([key, value]) => `--dynamic-config-value=${key}=${JSON.stringify(value)}`,
        ),
      ],
      // a separate home, because the CLI would otherwise read its user's settings
      env: { HOME: directory, PATH: '/usr/bin:/bin' },
      cwd: directory,
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 2_500,
      startTimeoutMs: 120_000,
      untilReady: ({ signal }) => untilTemporalAnswers(readTemporalSettings({ TEMPORAL_ADDRESS: address }), signal),
    },
    { attempts: 3, ...hooks },
  );
  return {
    address,
    uiUrl: uiPort === null ? null : `http://127.0.0.1:${uiPort}`,
    port,
    uiPort,
    process: supervised,
    [Symbol.asyncDispose]: () => supervised[Symbol.asyncDispose](),
  };
}

/** Resolves when a Temporal server responds. Rejects when `signal` aborts first. */
export async function untilTemporalAnswers(settings: TemporalSettings, signal: AbortSignal): Promise<void> {
  const { address, namespace } = settings;
  const credentials = readTemporalCredentials(settings);
  await untilSuccess(async () => {
    const connection = await Connection.connect({
      address,
      ...credentials,
      channelArgs: directChannel,
      connectTimeout: '2 seconds',
    });
    try {
      await connection.withDeadline(Date.now() + 2_000, () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
    } finally {
      await connection.close();
    }
  }, signal);
}
