import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { hostKeysOf, sshServerOf, type SshServer } from '../../lib/inputs/ssh-keys.ts';
import { GitError } from './git-error.ts';
import { shellWord } from '../../lib/shell-word.ts';

/** A private key and the servers that it may be used with. */
export interface SshCredential {
  privateKey: string;
  /** Lines `host type key`. A server that presents another key is refused. */
  knownHosts: readonly string[];
}

/** The environment with which git connects to one server over ssh. Disposing removes the directory with the key. */
export interface SshSession extends AsyncDisposable {
  env: Record<string, string>;
}

export interface SshRequest {
  /** A directory of the worker. */
  home: string;
  /** Search path for programs. */
  path: string;
  /** `ssh://user@host[:port]/owner/name`. */
  repository: string;
  credential: SshCredential;
  /** The address to connect to, even if the DNS answer changes. */
  address: string;
  /** Age at which directories left by a killed worker are removed. */
  abandonedAfterMs: number;
}

/** The host name in the known hosts file. The server's own name could match lines for other servers. */
const alias = 'repository';
const folder = 'ssh';

/** Writes the key, and a configuration that replaces all others. Errors: GitError. */
export async function openSshSession(request: SshRequest): Promise<SshSession> {
  const { home, repository, credential, abandonedAfterMs } = request;
  const server = serverOf(repository);
  const hostKeys = hostKeysOf(server, credential.knownHosts);
  if (hostKeys.length === 0) {
    const message = `The project has no host key for ${server.host}. Set it with --ssh-known-hosts, then retry the job.`;
    throw new GitError('authentication', { message });
  }
  await checkProgram(request.path);
  await removeAbandoned(join(home, folder), abandonedAfterMs);
  const directory = join(home, folder, randomUUID());
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const files = { key: credential.privateKey, hosts: hostKeys.map((key) => `${alias} ${key}\n`).join('') };
    for (const [name, text] of Object.entries({ ...files, config: configurationOf(directory, request.address) }))
      await writeFile(join(directory, name), text, { mode: 0o600 });
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    env: { GIT_SSH_COMMAND: `exec ssh -F ${shellWord(join(directory, 'config'))}`, GIT_SSH_VARIANT: 'ssh' },
    [Symbol.asyncDispose]: remove,
  };
}

/** Returns the server of an ssh address. Throws GitError for any other address. */
export function serverOf(repository: string): SshServer {
  const server = sshServerOf(repository);
  if (server !== null) return server;
  throw new GitError('other', { message: 'The git command does not say which server it reaches.' });
}

function configurationOf(directory: string, address: string): string {
  // ssh expands % in these paths
  const file = (name: string) => `"${join(directory, name).replaceAll('%', '%%')}"`;
  return `HostName ${address}
HostKeyAlias ${alias}
StrictHostKeyChecking yes
UserKnownHostsFile ${file('hosts')}
GlobalKnownHostsFile /dev/null
KnownHostsCommand none
CheckHostIP no
VerifyHostKeyDNS no
UpdateHostKeys no
IdentityFile ${file('key')}
IdentitiesOnly yes
IdentityAgent none
AddKeysToAgent no
PreferredAuthentications publickey
PasswordAuthentication no
KbdInteractiveAuthentication no
BatchMode yes
ProxyCommand none
ProxyJump none
ControlMaster no
ControlPath none
ClearAllForwardings yes
ForwardAgent no
ForwardX11 no
PermitLocalCommand no
Tunnel no
RequestTTY no
EscapeChar none
CanonicalizeHostname no
ConnectTimeout 30
ServerAliveInterval 20
ServerAliveCountMax 3
LogLevel ERROR
`;
}

async function checkProgram(path: string): Promise<void> {
  for (const directory of path.split(delimiter)) {
    try {
      return await access(join(directory, 'ssh'), constants.X_OK);
    } catch {
      // not in this directory
    }
  }
  throw new GitError('other', { message: 'ssh could not be started; install the OpenSSH client on the worker.' });
}

async function removeAbandoned(parent: string, afterMs: number): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names) {
    const found = await stat(join(parent, name)).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > afterMs)
      await rm(join(parent, name), { recursive: true, force: true });
  }
}
