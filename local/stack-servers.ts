import { join } from 'node:path';
import { readTemporalSettings } from '../lib/temporal/temporal-credentials.ts';
import { migrate } from '../db/migrate.ts';
import type { Home } from './home.ts';
import type { LocalJson } from './local-json.ts';
import { startPostgres } from './postgres/postgres.ts';
import type { StackSettings } from './settings.ts';
import type { StackChildren } from './processes/stack-children.ts';
import { messageOf, StartError } from './start-error.ts';
import type { Steps } from './steps.ts';
import { findTemporalBinary } from './temporal/temporal-binary.ts';
import { startTemporal, untilTemporalAnswers } from './temporal/temporal.ts';
import type { Output } from './temporal/terminal.ts';
import { codeOf } from '../lib/error-code.ts';

const externalServerMs = 15_000;

export interface ServerContext {
  settings: StackSettings;
  home: Home;
  /** State that the last start recorded. Its ports are reused if they are free. */
  known: LocalJson | null;
  children: StackChildren;
  started: AsyncDisposableStack;
  steps: Steps;
}

/**
 * Uses the database that `DATABASE_URL` names or starts a server, then migrates the schema. Returns the database URL.
 */
export async function startDatabase({
  settings,
  home,
  known,
  children,
  started,
  steps,
}: ServerContext): Promise<string> {
  const { databaseUrl } = settings;
  if (databaseUrl !== null) {
    await steps
      .run('Schema', () => migrate(databaseUrl))
      .catch((cause: unknown) => {
        const { host } = new URL(databaseUrl);
        throw new StartError(
          `The database on ${host} that DATABASE_URL names cannot be used (${messageOf(cause) || codeOf(cause)}); start it or correct the address, or unset DATABASE_URL.`,
          { cause },
        );
      });
    return databaseUrl;
  }
  const options = { directory: join(home.directory, 'postgres'), preferredPort: portOf(known?.databaseUrl) };
  const server = await steps.run('PostgreSQL', () => startPostgres(options, children.hooksOf('postgres')));
  started.use(server);
  await steps.run('Schema', () => migrate(server.url));
  return server.url;
}

export interface TemporalContext extends ServerContext, Output {
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  isHeadless: boolean;
}

/** Uses the Temporal server that `TEMPORAL_ADDRESS` names, or starts a development server. */
export async function startTemporalServer(
  context: TemporalContext,
): Promise<{ address: string; uiUrl: string | null }> {
  const { settings, home, known, children, started, steps, env, log, redraw, signal, isHeadless } = context;
  const address = settings.temporalAddress;
  if (address !== null) {
    const temporal = readTemporalSettings(env);
    await untilTemporalAnswers(temporal, AbortSignal.any([signal, AbortSignal.timeout(externalServerMs)])).catch(
      (cause: unknown) => {
        throw new StartError(
          `No Temporal server with the namespace ${temporal.namespace} responds at ${address} (TEMPORAL_ADDRESS). Start it, correct the address and its credentials, or unset TEMPORAL_ADDRESS.`,
          { cause },
        );
      },
    );
    return { address, uiUrl: null };
  }
  const binary = await findTemporalBinary({ env, log, redraw, signal });
  const options = {
    binary,
    isHeadless,
    directory: join(home.directory, 'temporal'),
    preferredPort: portOf(known === null ? null : `http://${known.temporalAddress}`),
    preferredUiPort: portOf(known?.temporalUiUrl),
  };
  const server = await steps.run('Temporal', () => startTemporal(options, children.hooksOf('temporal')));
  started.use(server);
  return { address: server.address, uiUrl: server.uiUrl };
}

/** Returns the port of a local address, or undefined when it has none or is not on this machine. */
function portOf(address: string | null | undefined): number | undefined {
  if (address === null || address === undefined || !URL.canParse(address)) return undefined;
  const { port, hostname } = new URL(address);
  return port === '' || hostname !== '127.0.0.1' ? undefined : Number(port);
}
