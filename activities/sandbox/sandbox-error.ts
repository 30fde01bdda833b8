/** The sandbox did not come up; the command was not begun. */
export class SandboxError extends Error {
  override name = 'SandboxError';
}

/** A command failed while the disk of its tree was full, which it did not fill itself: elsewhere it may succeed. */
export class WorkerDiskFullError extends Error {
  override name = 'WorkerDiskFullError';
}
