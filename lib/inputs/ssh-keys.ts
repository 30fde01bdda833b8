import { z } from 'zod';

/** How a project reaches its repositories by ssh: with a private key, at servers whose host keys it lists. */

export interface SshServer {
  user: string;
  host: string;
  port: number;
}

const maxKeyLength = 16_384;
const keyPattern = /^-----BEGIN ((?:[A-Z0-9]+ )?PRIVATE KEY)-----\n([A-Za-z0-9+/=\n]+)\n-----END \1-----$/;
const sshAddressPattern = /^ssh:\/\/([A-Za-z0-9_][A-Za-z0-9._-]*)@([a-z0-9.-]+)(?::([0-9]+))?\//;
const hostPattern = /^(?:[A-Za-z0-9][A-Za-z0-9.-]*|\[[A-Za-z0-9][A-Za-z0-9.-]*\]:[1-9][0-9]{0,4})$/;
const keyTypePattern = /^(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[A-Za-z0-9@.-]{1,60}$/;
const keyBytesPattern = /^[A-Za-z0-9+/]{40,2000}={0,2}$/;

/** Parses a private key without a passphrase. The result has the line endings that ssh expects. */
export const sshKeySchema = z
  .string()
  .max(maxKeyLength, `must have at most ${maxKeyLength} characters`)
  .transform((text, context) => {
    const lines = text.replaceAll('\r\n', '\n').trim();
    const [, label = '', body = ''] = keyPattern.exec(lines) ?? [];
    if (/ENCRYPTED/.test(lines) || isLocked(label, body))
      context.addIssue('must be a key without a passphrase, because the worker cannot type one');
    else if (body === '')
      context.addIssue('must be a private key as ssh-keygen writes it (-----BEGIN … PRIVATE KEY-----)');
    else return `${lines}\n`;
    return z.NEVER;
  });

/**
 * One line in the format of ssh-keyscan: a host (`[host]:port` for a port other than 22), the type of its key and the
 * key.
 */
export const hostKeySchema = z.string().transform((line, context) => {
  const [hosts = '', type = '', key = ''] = line.trim().split(/[ \t]+/);
  const names = hosts.split(',');
  if (names.every((name) => hostPattern.test(name)) && keyTypePattern.test(type) && keyBytesPattern.test(key))
    return `${hosts.toLowerCase()} ${type} ${key}`;
  context.addIssue('must be a line as ssh-keyscan prints it: host, type and key');
  return z.NEVER;
});

/** Returns the server of an ssh address; null for every other repository. */
export function sshServerOf(repository: string): SshServer | null {
  const [, user, host, port = '22'] = sshAddressPattern.exec(repository) ?? [];
  return user === undefined || host === undefined ? null : { user, host, port: Number(port) };
}

/** Returns the accepted keys of a server, each as `type key`. */
export function hostKeysOf({ host, port }: SshServer, knownHosts: readonly string[]): string[] {
  const name = port === 22 ? host : `[${host}]:${port}`;
  return knownHosts.flatMap((line) => {
    const [hosts = '', type = '', key = ''] = line.split(' ');
    return hosts.split(',').includes(name) ? [`${type} ${key}`] : [];
  });
}

/** Returns what a project lacks to reach its repositories by ssh; null when nothing is missing. */
export function problemWithSsh({
  repositories,
  hasKey,
  knownHosts,
}: {
  repositories: readonly string[];
  hasKey: boolean;
  knownHosts: readonly string[];
}): string | null {
  for (const repository of repositories) {
    const server = sshServerOf(repository);
    if (server === null) continue;
    if (!hasKey) return 'A repository reached by ssh needs a project with an ssh key.';
    if (hostKeysOf(server, knownHosts).length === 0) {
      const scanned = server.port === 22 ? server.host : `-p ${server.port} ${server.host}`;
      return `No host key for ${server.host} is known. Set the project's known hosts to the output of "ssh-keyscan ${scanned}", after comparing it with the keys that the server's owner publishes.`;
    }
  }
  return null;
}

/** Reports whether a key in OpenSSH's format is encrypted. */
function isLocked(label: string, body: string): boolean {
  if (label !== 'OPENSSH PRIVATE KEY') return false;
  const bytes = decoded(body.replaceAll('\n', '').slice(0, 60));
  return bytes !== null && bytes.startsWith('openssh-key-v1\0') && bytes.slice(19, 23) !== 'none';
}

function decoded(base64: string): string | null {
  try {
    return atob(base64);
  } catch {
    return null;
  }
}
