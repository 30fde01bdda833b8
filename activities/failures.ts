import { SnapshotRemovedError } from '../db/jobs/snapshot-removed.ts';
import { isStoreDown } from '../db/store-down.ts';
import { SealedError } from '../lib/encryption/cipher.ts';
import { UnknownModelError } from '../models/registry.ts';
import { FailureType } from '../workflows/contract/failures.ts';
import { ForgeError, type ForgeErrorKind } from './forges/forge.ts';
import { ImageError } from './images/image-error.ts';
import { SandboxError, WorkerDiskFullError } from './sandbox/sandbox-error.ts';
import { GitError, type GitErrorKind } from './git/git-error.ts';
import { ModelCallError, verdictOfModelFailure } from './model/model-failures.ts';
import type { Verdict } from './tools/verdict.ts';
import { codeOf } from '../lib/error-code.ts';

type Rule = Pick<Verdict, 'category' | 'tolerated'>;

const gitRules: Record<GitErrorKind, Rule> = {
  unreachable: { category: FailureType.RepositoryUnreachable, tolerated: 6 },
  'not-found': { category: FailureType.RepositoryUnreachable, tolerated: 0 },
  authentication: { category: FailureType.AuthenticationRefused, tolerated: 0 },
  'ref-not-found': { category: FailureType.RefNotFound, tolerated: 0 },
  rejected: { category: FailureType.PushRejected, tolerated: 0 },
  stale: { category: FailureType.PushRejected, tolerated: 2 },
  'too-large': { category: FailureType.RepositoryTooLarge, tolerated: 0 },
  'out-of-memory': { category: FailureType.RepositoryTooLarge, tolerated: 0 },
  'disk-full': { category: FailureType.ToolFailure, tolerated: 2 },
  corrupt: { category: FailureType.ToolFailure, tolerated: 3 },
  timeout: { category: FailureType.RepositoryUnreachable, tolerated: 2 },
  aborted: { category: FailureType.Internal, tolerated: null },
  other: { category: FailureType.ToolFailure, tolerated: 3 },
};

const forgeRules: Record<ForgeErrorKind, Rule> = {
  authentication: { category: FailureType.AuthenticationRefused, tolerated: 0 },
  'not-found': { category: FailureType.RepositoryUnreachable, tolerated: 0 },
  rejected: { category: FailureType.PushRejected, tolerated: 0 },
  'rate-limited': { category: FailureType.RepositoryUnreachable, tolerated: 10 },
  unavailable: { category: FailureType.RepositoryUnreachable, tolerated: 6 },
  aborted: { category: FailureType.Internal, tolerated: null },
};

const fileSystemCodes = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE', 'EACCES', 'EPERM']);

const filesDeleted = 'The files that the job continues from were deleted to free space. Create a new job.';

/** Returns the verdict that an error means for the job. */
export function verdictOf(error: unknown): Verdict {
  if (error instanceof ModelCallError) return verdictOfModelFailure(error);
  if (error instanceof UnknownModelError) return rule(FailureType.ModelRefused, 0, error.message);
  if (error instanceof GitError) return { ...gitRules[error.kind], message: error.message, retryAfterMs: null };
  if (error instanceof SnapshotRemovedError) return rule(FailureType.ToolFailure, 0, filesDeleted);
  if (error instanceof ForgeError) {
    return { ...forgeRules[error.kind], message: error.message, retryAfterMs: error.retryAfterMs };
  }
  if (error instanceof ImageError)
    return rule(FailureType.ImageUnavailable, error.kind === 'refused' ? 0 : 2, error.message);
  if (error instanceof SandboxError) return rule(FailureType.ToolFailure, 3, 'The sandbox for commands did not start.');
  if (error instanceof WorkerDiskFullError) return rule(FailureType.ToolFailure, 2, error.message);
  // not the job's fault: it waits until the key is available
  if (error instanceof SealedError) return rule(FailureType.Internal, null, error.message);
  if (isStoreDown(error)) return rule(FailureType.Internal, null, 'The database did not answer.');
  const code = codeOf(error);
  if (code !== null && fileSystemCodes.has(code)) {
    return rule(FailureType.ToolFailure, 2, `The worker could not write its working copy (${code}).`);
  }
  return rule(FailureType.Internal, 5, 'An unexpected error occurred; the log of the worker has the cause.');
}

function rule(category: FailureType, tolerated: number | null, message: string): Verdict {
  return { category, tolerated, message, retryAfterMs: null };
}
