import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findFreePort } from '../../../local/processes/ports.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

export interface Gitea extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`, or https with its own certificate authority. */
  origin: string;
  /** A PEM file with the authority; null without TLS. */
  authority: string | null;
  /** Token of `bot`, which owns everything that is created here. */
  token: string;
  /** Port of its ssh server; null without one. */
  sshPort: number | null;
  /** Calls the server's API as `bot`; throws unless the response is a success. */
  ask(method: string, path: string, body?: object): Promise<any>;
  addUser(name: string): Promise<void>;
  /** Returns a token with these scopes for an added user. */
  tokenOf(name: string, scopes: string[]): Promise<string>;
}

const execute = promisify(execFile);
const startTimeoutMs = 120_000;
/** Matches the refusal of a merge while Gitea checks whether it is possible. */
const isStillChecked = /try again later/i;
/** Password of every account but `bot`. */
const password = 'pass-word-1';

/** Starts a real Gitea on a free port, with an account `bot` and a token. */
export async function startGitea(binary: string, { isTls = false, hasSsh = false } = {}): Promise<Gitea> {
  await using started = new AsyncDisposableStack();
  const home = temporaryDirectory();
  const port = await findFreePort();
  const sshPort = hasSsh ? await findFreePort() : null;
  const origin = `${isTls ? 'https' : 'http'}://127.0.0.1:${port}`;
  const env = { PATH: process.env['PATH'], HOME: home, GITEA_WORK_DIR: home };
  const run = async (...args: string[]) => (await execute(binary, args, { cwd: home, env })).stdout.trim();

  await mkdir(join(home, 'custom/conf'), { recursive: true });
  if (isTls) await run('cert', '--ca', '--host', '127.0.0.1');
  const secrets = {
    key: await run('generate', 'secret', 'SECRET_KEY'),
    jwt: await run('generate', 'secret', 'JWT_SECRET'),
  };
  const internal = await run('generate', 'secret', 'INTERNAL_TOKEN');
  const assets = join(binary, '..', 'assets');
  await writeFile(
    join(home, 'custom/conf/app.ini'),
    configuration({ home, origin, port, sshPort, isTls, assets, internal, ...secrets }),
    { mode: 0o600 },
  );
  await run('migrate');
  const account = ['--username', 'bot', '--password', 'bot-pass-1', '--email', 'bot@example.test'];
  await run('admin', 'user', 'create', ...account, '--admin', '--must-change-password=false');
  const scopes = 'write:repository,write:user,write:issue,write:admin,write:organization';
  const named = ['--username', 'bot', '--token-name', 'tests', '--scopes', scopes, '--raw'];
  // a warning may precede it
  const token = (await run('admin', 'user', 'generate-access-token', ...named)).split('\n').at(-1) ?? '';

  const server = spawn(binary, ['web'], { cwd: home, env, stdio: 'ignore' });
  const ended = once(server, 'exit');
  started.defer(async () => {
    server.kill();
    await ended;
  });
  const authority = isTls ? join(home, 'cert.pem') : null;
  // of this process, for what a test asks the server itself
  if (authority !== null)
    setDefaultCACertificates([...getCACertificates('default'), await readFile(authority, 'utf8')]);
  await untilHealthy(port, { isTls, ended });

  async function ask(method: string, path: string, body?: object, authorization = `token ${token}`): Promise<any> {
    const response = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status === 405 && isStillChecked.test(text)) {
      await delay(100);
      return ask(method, path, body, authorization);
    }
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }

  const running = started.move();
  return {
    origin,
    authority,
    token,
    sshPort,
    ask: (method, path, body) => ask(method, path, body),
    async tokenOf(name, scopes) {
      const basic = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
      const { sha1 } = await ask('POST', `/users/${name}/tokens`, { name: scopes.join(), scopes }, basic);
      return sha1;
    },
    async addUser(name) {
      const about = { username: name, email: `${name}@example.test`, password };
      await ask('POST', '/admin/users', { ...about, must_change_password: false });
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

interface Configuration {
  home: string;
  origin: string;
  port: number;
  sshPort: number | null;
  isTls: boolean;
  assets: string;
  key: string;
  jwt: string;
  internal: string;
}

function configuration({ home, origin, port, sshPort, isTls, assets, key, jwt, internal }: Configuration): string {
  const tls = isTls ? `PROTOCOL = https\nCERT_FILE = ${home}/cert.pem\nKEY_FILE = ${home}/key.pem\n` : '';
  return `RUN_USER = ${userInfo().username}
RUN_MODE = prod
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
WORK_PATH = ${home}
[server]
${tls}HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = ${origin}/
${sshPort === null ? 'DISABLE_SSH = true' : sshSettings(sshPort)}
OFFLINE_MODE = true
LFS_START_SERVER = false
STATIC_ROOT_PATH = ${assets}
[database]
DB_TYPE = sqlite3
PATH = ${home}/data/gitea.db
[repository]
ROOT = ${home}/repos
DEFAULT_BRANCH = main
[security]
INSTALL_LOCK = true
SECRET_KEY = ${key}
INTERNAL_TOKEN = ${internal}
PASSWORD_HASH_ALGO = pbkdf2$100$16
[oauth2]
JWT_SECRET = ${jwt}
[cron]
ENABLED = false
[indexer]
ISSUE_INDEXER_TYPE = db
[actions]
ENABLED = false
[packages]
ENABLED = false
[session]
PROVIDER = memory
[log]
MODE = file
ROOT_PATH = ${home}/log
`;
}

/** Returns the settings of Gitea's built-in ssh server, which needs no program of the machine. */
function sshSettings(port: number): string {
  return `START_SSH_SERVER = true
BUILTIN_SSH_SERVER_USER = git
SSH_DOMAIN = 127.0.0.1
SSH_LISTEN_HOST = 127.0.0.1
SSH_PORT = ${port}
SSH_LISTEN_PORT = ${port}`;
}

/** Waits for the health page. Ignores the certificate, because only readiness matters. */
async function untilHealthy(
  port: number,
  { isTls, ended }: { isTls: boolean; ended: Promise<unknown> },
): Promise<void> {
  const state = { hasEnded: false };
  void ended.then(() => (state.hasEnded = true));
  const deadline = Date.now() + startTimeoutMs;
  const { get } = await import(isTls ? 'node:https' : 'node:http');
  while (!state.hasEnded && Date.now() < deadline) {
    const status = await new Promise<number>((resolve) => {
      const url = `${isTls ? 'https' : 'http'}://127.0.0.1:${port}/api/healthz`;
      get(url, { rejectUnauthorized: false }, (response: any) => {
        response.resume();
        resolve(response.statusCode);
      }).on('error', () => resolve(0));
    });
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('Gitea did not start.');
}
