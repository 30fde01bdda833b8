import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import ssh2 from 'ssh2';

export interface SshServer extends AsyncDisposable {
  host: string;
  port: number;
  /** The line of its host key, as ssh-keyscan prints it. */
  hostKey: string;
  /** Requested commands, verbatim. */
  commands: string[];
  /** Returns the number of connections, including refused ones. */
  connections(): number;
  /** Returns `ssh://git@host:port/<name>` of an added repository. */
  url(name: string): string;
  /** Serves a bare repository under `owner/name`. */
  add(name: string, path: string): void;
  /** Cuts further exchanges after this many bytes; null for no cuts. */
  cutAfter(bytes: number | null): void;
}

export interface SshServerOptions {
  /** Accepted public keys, in the format of authorized_keys. */
  authorizedKeys: readonly string[];
  /** The address it listens on. */
  host?: string;
  /** The server's private key; a new one by default. */
  hostKey?: string;
}

const environment = {
  PATH: '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '*',
};

export interface KeyPair {
  private: string;
  public: string;
}

/** Creates a key pair in OpenSSH's own format, encrypted if there is a passphrase. */
export function createKeyPair(passphrase?: string): KeyPair {
  const lock = passphrase === undefined ? {} : { passphrase, cipher: 'aes256-ctr' as const, rounds: 4 };
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519', lock as object);
    // ssh2 omits the leading zero that one key in 256 has, which makes the key unreadable
    if (!(ssh2.utils.parseKey(pair.private, passphrase) instanceof Error)) return pair;
  }
}

/** Starts an ssh server that serves bare repositories with git itself. */
export async function startSshServer(options: SshServerOptions): Promise<SshServer> {
  const { authorizedKeys, host = '127.0.0.1', hostKey = createKeyPair().private } = options;
  const allowed = authorizedKeys.map((text) => parsedKey(text));
  const repositories = new Map<string, string>();
  const commands: string[] = [];
  const clients = new Set<ssh2.Connection>();
  let connections = 0;
  let cut: number | null = null;

  const server = new ssh2.Server({ hostKeys: [hostKey] }, (client) => {
    connections += 1;
    clients.add(client);
    client.on('close', () => clients.delete(client));
    client.on('error', () => {});
    client.on('authentication', (attempt) => {
      if (attempt.method !== 'publickey') return attempt.reject(['publickey']);
      const key = allowed.find((one) => one.getPublicSSH().equals(attempt.key.data));
      const isSigned = () =>
        attempt.signature === undefined ||
        (attempt.blob !== undefined && key?.verify(attempt.blob, attempt.signature, attempt.hashAlgo) === true);
      if (key !== undefined && isSigned()) attempt.accept();
      else attempt.reject(['publickey']);
    });
    client.on('session', (accept) => {
      const session = accept();
      let protocol = '';
      session.on('env', (acceptEnv, _reject, { key, val }) => {
        if (key === 'GIT_PROTOCOL') protocol = val;
        acceptEnv?.();
      });
      session.on('exec', (acceptExec, rejectExec, { command }) => {
        commands.push(command);
        const [, service, name = ''] = /^(git-(?:upload|receive)-pack) '\/(.+)'$/.exec(command) ?? [];
        const path = repositories.get(name);
        if (service === undefined) return rejectExec();
        const channel = acceptExec();
        if (path === undefined) {
          channel.stderr.write('ERROR: Repository not found.\n');
          channel.exit(1);
          return void channel.end();
        }
        serve(channel, { service, path, protocol });
      });
    });

    function serve(channel: ssh2.ServerChannel, { service, path, protocol }: Record<string, string>): void {
      const env = { ...environment, GIT_PROTOCOL: protocol ?? '' };
      const child = spawn('git', [(service ?? '').slice('git-'.length), path ?? ''], { env });
      let sent = 0;
      const limit = cut;
      child.stdin.on('error', () => {});
      channel.on('error', () => {});
      channel.pipe(child.stdin);
      child.stderr.pipe(channel.stderr, { end: false });
      child.stdout.on('data', (chunk: Buffer) => {
        sent += chunk.length;
        if (limit === null || sent <= limit) return void channel.write(chunk);
        child.kill();
        client.end();
      });
      child.on('close', (code) => {
        channel.exit(code ?? 1);
        channel.end();
      });
      client.on('close', () => child.kill());
    }
  });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const name = port === 22 ? host : `[${host}]:${port}`;
  const shown = parsedKey(hostKey);
  return {
    host,
    port,
    hostKey: `${name} ${shown.type} ${shown.getPublicSSH().toString('base64')}`,
    commands,
    connections: () => connections,
    url: (repository) => `ssh://git@${host}:${port}/${repository}`,
    add: (repository, path) => void repositories.set(repository, path),
    cutAfter: (bytes) => void (cut = bytes),
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.end();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function parsedKey(text: string): ssh2.ParsedKey {
  const key = ssh2.utils.parseKey(text);
  if (key instanceof Error) throw key;
  return Array.isArray(key) ? key[0]! : key;
}
