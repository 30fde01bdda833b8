import { generateKeyPairSync } from 'node:crypto';
import { createKeyPair } from '../../support/ssh/ssh-server.ts';

const rsa = () =>
  String(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }));

/** A key whose middle is another key's, so that its form alone is valid. */
function damaged(key: string): string {
  const lines = key.split('\n');
  return lines.map((line, at) => (at === 3 ? Array.from(line).toReversed().join('') : line)).join('\n');
}

/** The private keys that are given to projects; the server accepts only the first two. */
export const sshKeys = {
  ed25519: createKeyPair().private,
  rsa: rsa(),
  stranger: createKeyPair().private,
  strangerRsa: rsa(),
  damaged: damaged(createKeyPair().private),
  damagedRsa: damaged(rsa()),
};

/** Those that no project takes: with a passphrase, cut off, with something else inside. */
export const refusedKeys = {
  locked: createKeyPair('a passphrase').private,
  cutOff: createKeyPair().private.replace(/-----END[^-]*-----\n?/, ''),
  broken: rsa().replace('\n', '\n{}'),
};
