import { GitError } from './git-error.ts';

/** A credential for git over HTTPS; it travels on a file descriptor and only to `origin`. */
export interface GitCredential {
  username: string;
  /** Called at each use. `fresh` after the last one was refused; what cannot be renewed answers the same again. */
  token(options?: { fresh: boolean }): Promise<string>;
  /** The origin it belongs to, e.g. `https://github.com`. */
  origin: string;
}

/** The helper copies what lies on descriptor 3; git asks it for the credential's own origin only. */
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
