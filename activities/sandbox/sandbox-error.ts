/** The sandbox did not come up, and the command was not started. */
export class SandboxError extends Error {
  override name = 'SandboxError';
}

/**
 * A command failed while the disk of its tree was full for reasons other than the command; it may succeed elsewhere.
 */
export class WorkerDiskFullError extends Error {
  override name = 'WorkerDiskFullError';
}
