import { describe, expect, it } from 'vitest';
import {
  hostKeySchema,
  hostKeysOf,
  problemWithSsh,
  sshKeySchema,
  sshServerOf,
} from '../../../../lib/inputs/ssh-keys.ts';
import { createKeyPair } from '../../../support/ssh/ssh-server.ts';

const bytes = 'AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl';

describe('a private key', () => {
  it('is normalized for ssh, whatever its line endings', () => {
    const { private: key } = createKeyPair();
    expect(sshKeySchema.parse(key.replaceAll('\n', '\r\n'))).toBe(`${key.trim()}\n`);
  });

  it.each([
    ['', /must be a private key/],
    ['ghp_a-token', /must be a private key/],
    ['-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', /must be a private key/],
    ['-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nAAAA\n-----END RSA PRIVATE KEY-----', /passphrase/],
    ['-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----', /passphrase/],
    [createKeyPair('locked').private, /passphrase/],
  ])('is refused if it is invalid or has a passphrase (%#)', (text, problem) => {
    expect(sshKeySchema.safeParse(text).error?.issues[0]?.message).toMatch(problem);
  });
});

describe('a host key', () => {
  it('is accepted as ssh-keyscan prints it', () => {
    const scanned = `Git.example.com ssh-ed25519 ${bytes}`;
    expect(hostKeySchema.parse(scanned)).toBe(`git.example.com ssh-ed25519 ${bytes}`);
  });

  it.each([
    `* ssh-ed25519 ${bytes}`,
    `!git.example.com ssh-ed25519 ${bytes}`,
    `|1|abc=|def= ssh-ed25519 ${bytes}`,
    `@cert-authority *.example.com ssh-ed25519 ${bytes}`,
    `git.example.com ${bytes}`,
    'git.example.com ssh-ed25519 x',
    `git.example.com ssh-ed25519 ${bytes}"\nProxyCommand x`,
  ])('%j is invalid', (line) => {
    expect(hostKeySchema.safeParse(line).success).toBe(false);
  });

  it('belongs to one port of one host', () => {
    const known = [`git.example.com,other.example ssh-ed25519 ${bytes}`, `[git.example.com]:2222 ssh-rsa ${bytes}`];
    const keysOf = (url: string) => hostKeysOf(sshServerOf(url)!, known);
    expect(keysOf('ssh://git@git.example.com/a/b')).toEqual([`ssh-ed25519 ${bytes}`]);
    expect(keysOf('ssh://git@git.example.com:2222/a/b')).toEqual([`ssh-rsa ${bytes}`]);
    expect(keysOf('ssh://git@git.example.com:2223/a/b')).toEqual([]);
    expect(keysOf('ssh://git@example.com/a/b')).toEqual([]);
  });
});

describe('a project with a repository over ssh', () => {
  const repositories = ['https://github.com/a/b', 'ssh://git@git.example.com:2222/a/b'];
  const knownHosts = [`[git.example.com]:2222 ssh-ed25519 ${bytes}`];

  it('needs a key and the host key', () => {
    expect(problemWithSsh({ repositories, hasKey: true, knownHosts })).toBeNull();
    expect(problemWithSsh({ repositories, hasKey: false, knownHosts })).toMatch(/needs a project with an ssh key/);
    expect(problemWithSsh({ repositories, hasKey: true, knownHosts: [] })).toMatch(
      /ssh-keyscan -p 2222 git\.example\.com/,
    );
    expect(problemWithSsh({ repositories: ['/srv/a'], hasKey: false, knownHosts: [] })).toBeNull();
  });
});
