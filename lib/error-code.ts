/** Returns the code of a system or database error (`ENOENT`, `23503`), or null for any other error. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** PostgreSQL's error code for an undefined table. */
export const undefinedTable = '42P01';
