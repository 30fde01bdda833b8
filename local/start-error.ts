/** Why the local stack cannot come up: one sentence that tells a person what happened and what to do. */
export class StartError extends Error {
  override name = 'StartError';
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of a system error (`ENOENT`, `EACCES`); null for everything else. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}
