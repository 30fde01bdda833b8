import { GitError } from './git-error.ts';

/** A credential for git over HTTPS. It is passed on a file descriptor and sent only to `origin`. */
export interface GitCredential {
  username: string;
  /** Called for each use; `fresh` is set after a rejection. A token that cannot be renewed is returned again. */
  token(options?: { fresh: boolean }): Promise<string>;
  /** The origin it belongs to, e.g. `https://github.com`. */
  origin: string;
}

/** Configures a helper that copies descriptor 3. git calls it only for the credential's own origin. */
export function credentialConfig(credential: GitCredential | null): string[] {
  if (credential === null) return [];
  const helper = '!f() { if test "$1" = get; then cat <&3; fi; }; f';
  return ['-c', `credential.${new URL(credential.origin).origin}.helper=${helper}`];
}

export function credentialText(credential: GitCredential | null, token: string | null): string | null {
  if (credential === null || token === null) return null;
  if (/[\r\n\0]/.test(`${credential.username}${token}`)) {
    throw new GitError('authentication', { message: 'The forge credential contains a line break. Set it again.' });
  }
  return `username=${credential.username}\npassword=${token}\n`;
}
