import { GitError } from './git-error.ts';

/** Reports whether no connection was made, so that nothing can have changed on the server. */
export function isNotConnected(error: unknown): boolean {
  return error instanceof GitError && /^ssh: connect to host /m.test(error.detail);
}

/**
 * Recognizes the messages of ssh itself, and those that forges send over ssh instead of git's. Returns null for any
 * other text. `detail` is copied to the error.
 */
export function sshFailureOf(stderr: string, detail: string): GitError | null {
  const fails = (kind: GitError['kind'], message?: string) => new GitError(kind, { message, detail });
  if (/Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED|host key is known for/i.test(stderr)) {
    return fails(
      'authentication',
      "The repository's server presented an unknown host key. Compare it with the key that its owner publishes, then set it with --ssh-known-hosts.",
    );
  }
  if (/^Load key ".*": /m.test(stderr))
    return fails('authentication', "ssh cannot read the project's ssh key. Set it again.");
  if (/: Permission denied \(/i.test(stderr))
    return fails('authentication', "The repository's server rejected the project's ssh key.");
  if (
    /marked as read.only|(?:not authori[sz]ed|no) (?:for |to )?(?:write|push)|denied to (?:deploy key|push)/i.test(
      stderr,
    )
  )
    return fails('rejected', "The repository's server rejected the push: the ssh key has no write access.");
  if (
    /repository not found|could not be found|cannot find repository|not authori[sz]ed to (?:read|access)/i.test(stderr)
  )
    return fails('not-found', 'The repository does not exist, or the ssh key cannot see it.');
  if (/^(?:ssh: |kex_exchange_identification|Connection (?:closed|reset|to .* (?:closed|timed out)))/im.test(stderr))
    return fails('unreachable');
  return null;
}
