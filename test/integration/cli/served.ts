import { buildKey, buildOrganization } from '../../support/database/build.ts';
import { createTestCommands, type TestCommands } from '../../support/sandbox/commands.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { testKeysText } from '../../support/database/encryption.ts';
import { serveApi, type ServedApi } from '../api/serve.ts';

export interface ServedCommands extends TestCommands, AsyncDisposable {
  database: TestDatabase;
  api: ServedApi;
  /** The organization that the commands act for. */
  org: string;
  /** The environment of the commands over HTTP. */
  env: NodeJS.ProcessEnv;
  /** The content of standard input. */
  input: string;
  /** Creates a new organization, for which the commands then act. */
  act(): Promise<string>;
}

/** The command line with an admin key of an organization, against an API on the database. */
export async function serveCommands(env: Record<string, string> = {}): Promise<ServedCommands> {
  await using resources = new AsyncDisposableStack();
  const database = resources.use(await createTestDatabase());
  const api = resources.use(
    await serveApi(database.pool, {
      DOCKET_LOCAL_REPOSITORIES: '/srv/git',
      DOCKET_ALLOWED_HOSTS: 'github.com',
      DOCKET_WEBHOOK_ALLOWED_HOSTS: '127.0.0.1:9000',
      DOCKET_ENCRYPTION_KEYS: testKeysText('k1'),
      ...env,
    }),
  );
  const running = resources.move();
  const served: ServedCommands = {
    ...createTestCommands(() => served),
    database,
    api,
    org: '',
    env: { DOCKET_HOME: '/nowhere/docket', DOCKET_URL: api.url },
    input: '',
    async act() {
      served.org = (await buildOrganization(database.pool)).id;
      served.env['DOCKET_API_KEY'] = (await buildKey(database.pool, { organizationId: served.org })).key;
      return served.org;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
  await served.act();
  return served;
}
