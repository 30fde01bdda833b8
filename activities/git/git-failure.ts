import { redact } from '../../lib/redaction/redactor.ts';
import { GitError, type GitErrorKind } from './git-error.ts';
import { sshFailureOf } from './ssh-failure.ts';

/** Messages of git under LC_ALL=C, most specific first: git has no distinct exit code for any of these. */
const signs: readonly { kind: GitErrorKind; pattern: RegExp }[] = [
  { kind: 'disk-full', pattern: /No space left on device|Disk quota exceeded/i },
  { kind: 'out-of-memory', pattern: /^fatal: .*(?:Out of memory|Cannot allocate memory)/im },
  // the file size limit of the process
  { kind: 'too-large', pattern: /File too large/i },
  {
    kind: 'authentication',
    pattern:
      /could not read (?:Username|Password)|Authentication failed|terminal prompts disabled|requested URL returned error: (?:401|403)|unable to get password/i,
  },
  {
    kind: 'not-found',
    pattern:
      /requested URL returned error: (?:404|410)|^fatal: repository '.*' (?:not found|does not exist)|does not appear to be a git repository|no such repository/im,
  },
  { kind: 'ref-not-found', pattern: /couldn't find remote ref|not our ref|unadvertised object/i },
  {
    kind: 'unreachable',
    pattern:
      /unable to access '|Could not resolve host|Failed to connect|Connection (?:refused|reset|timed out)|hung up unexpectedly|early EOF|RPC failed|expected flush after|unexpected disconnect|Could not read from remote repository|protocol error|unable to update url base|remote helper '[^'\n]*' aborted/i,
  },
  {
    kind: 'corrupt',
    pattern:
      /is corrupt|^error: object file .* is empty|bad (?:object|tree|signature)|unable to (?:read|find|load|parse|unpack) [0-9a-f]{40}|unable to read (?:tree|sha1|object)|missing (?:blob|tree|commit)|not a valid (?:object|commit|tree)|invalid (?:object|sha1|tree)|^(?:error|fatal|warning): packfile .* (?:cannot|does not|is)|index file (?:smaller|corrupt)|not a git repository|not a tree object|unable to normalize alternate|error building trees|unresolved delta|failed to unpack tree|^(?:error|fatal): Unable to create '.*\.lock'|ambiguous argument '[0-9a-f]{40}|could not (?:parse|get) (?:commit|object)|reference broken|bad config line/im,
  },
];

/** stderr is redacted before it is truncated further, because part of a secret would not be recognized. */
const maxStderrLength = 64_000;
const maxDetailLength = 600;

export interface FailedGit {
  stderr: string;
  secrets: readonly string[];
  /** Whether the command connected over ssh. */
  isSsh?: boolean;
}

/** Returns the error for a git process that exited with a non-zero code. */
export function gitFailureOf({ stderr, secrets, isSsh = false }: FailedGit): GitError {
  const { own, remote } = partsOf(stderr);
  const detail = redact(stderr.slice(-maxStderrLength), secrets).slice(-maxDetailLength);
  const ofSsh = isSsh ? sshFailureOf(stderr, detail) : null;
  if (ofSsh !== null) return ofSsh;
  if (/requested URL returned error: 30[1278]|unable to update url base/i.test(own)) {
    const remedy = 'enter the new one in the settings of the project or site';
    return new GitError('not-found', { message: `The repository has moved to another address; ${remedy}.`, detail });
  }
  if (/requested URL returned error: 403/i.test(own)) {
    if (/archived/i.test(remote)) return rejected('The repository is archived and accepts no pushes.', detail);
    const message = 'The credential lacks permission for this repository; it needs read and write access to contents.';
    return new GitError('authentication', { message, detail });
  }
  if (/^error: invalid path '/m.test(own)) {
    const message = 'The repository has a path that git refuses to check out: one that is or resembles ., .. or .git.';
    return new GitError('other', { message: `${message} Rename it in the repository.`, detail });
  }
  if (/possible repository corruption on the remote side/i.test(stderr)) {
    const message = 'The server reports that the repository is damaged. Run git fsck there, then retry the job.';
    return new GitError('unreachable', { message, detail });
  }
  const kind = signs.find(({ pattern }) => pattern.test(own))?.kind ?? 'other';
  return new GitError(kind, { detail });
}

/** Separates git's own lines from the remote's, which only select a message and never decide the kind of failure. */
function partsOf(stderr: string): { own: string; remote: string } {
  const lines = stderr.split(/[\r\n]+/);
  const isRemote = (line: string) => line.startsWith('remote: ');
  return { own: lines.filter((line) => !isRemote(line)).join('\n'), remote: lines.filter(isRemote).join('\n') };
}

/** Reported when a ref moved after the server's check. git's HTTP client may itself have sent the push before. */
const movedRef = /cannot lock ref '[^']*': (?:reference already exists|is at [0-9a-f]+ but expected [0-9a-f]+)/i;

/** Reported when a branch `docket` prevents the creation of `docket/a`. */
const branchConflict =
  /cannot lock ref '[^'\n]{1,300}': '[^'\n]{1,300}' exists; cannot create|directory file conflict/i;

/** Returns the error for the ref that a push with --porcelain reports as refused; null if it reports none. */
export function refusedPushOf({ stdout, stderr }: { stdout: Buffer; stderr: string }): GitError | null {
  const lines = stdout.toString().split('\n');
  const refusal = lines.find((line) => line.startsWith('!\t'));
  return refusal === undefined ? null : pushFailureOf({ reason: refusal.split('\t').slice(2).join(' '), stderr });
}

/** Returns the error for a rejected ref, from the reason in the porcelain output and the remote's lines on stderr. */
export function pushFailureOf({ reason, stderr }: { reason: string; stderr: string }): GitError {
  const words = `${reason}\n${partsOf(stderr).remote}`;
  const detail = redact(words.slice(0, maxStderrLength), []).slice(0, maxDetailLength);
  if (branchConflict.test(words)) {
    const message =
      'The server rejected the push: a branch named "docket" prevents one whose name begins with docket/.';
    return rejected(`${message} Rename that branch, then retry the job.`, detail);
  }
  if (/stale info|fetch first|non-fast-forward|already exists|cannot lock ref/i.test(reason) || movedRef.test(words)) {
    return new GitError('stale', { detail });
  }
  if (/currently checked out/i.test(reason)) {
    const message = 'The branch is checked out in the repository, so git refuses to push to it.';
    return rejected(`${message} Check out another branch there, or use a bare repository.`, detail);
  }
  if (/failed to report status/i.test(reason)) return new GitError('unreachable', { detail });
  if (/workflow/i.test(reason) || /refusing to allow [^\n]{1,200} workflow/i.test(words)) {
    return rejected(
      "The repository's server rejected a change of workflow files: the credential lacks the workflow permission.",
      detail,
    );
  }
  if (/protected branch|GH006|GH013|rule violations/i.test(words)) {
    return rejected("The repository's server rejected the push: the branch is protected.", detail);
  }
  if (/permission|denied|not allowed|prohibited/i.test(words)) {
    return rejected("The repository's server rejected the push: the credential cannot write to this branch.", detail);
  }
  if (/hook declined/i.test(reason)) {
    return rejected("The repository's server rejected the push: one of its hooks declined it.", detail);
  }
  return new GitError('rejected', { detail });
}

/** Converts an error of a full disk in git's directories to a GitError, and returns any other error unchanged. */
export function fileFailureOf(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT' || error.code === 'EFBIG') {
    return new GitError('disk-full', { cause: error });
  }
  return error;
}

function rejected(message: string, detail: string): GitError {
  return new GitError('rejected', { message, detail });
}

/** Wraps `work` so that file system errors are also thrown as GitError. */
export function translated<Arguments extends unknown[], Result>(
  work: (...values: Arguments) => Promise<Result>,
): (...values: Arguments) => Promise<Result> {
  return async (...values) => {
    try {
      return await work(...values);
    } catch (error) {
      throw fileFailureOf(error);
    }
  };
}
