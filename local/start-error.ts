/** Reports why the local stack cannot start: one sentence that says what happened and what to do. */
export class StartError extends Error {
  override name = 'StartError';
}

/** Returns the message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
