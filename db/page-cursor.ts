/** A cursor that no page gave. */
export class InvalidCursorError extends Error {
  override name = 'InvalidCursorError';
}

export interface PageCursor {
  /** Microseconds since 1970 as text: a Date would cut what the database orders by. */
  createdMicros: string;
  id: string;
}

const pattern = /^(\d{1,16}):([\w-]{1,64})$/;

/** Opaque to clients; names the last row of a page. */
export function encodeCursor({ createdMicros, id }: PageCursor): string {
  return Buffer.from(`${createdMicros}:${id}`).toString('base64url');
}

/** Throws InvalidCursorError for a text that `encodeCursor` did not make. */
export function decodeCursor(text: string): PageCursor {
  const [, createdMicros, id] = pattern.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
  if (createdMicros === undefined || id === undefined || encodeCursor({ createdMicros, id }) !== text) {
    throw new InvalidCursorError('The cursor does not come from a page. Omit it to start with the newest.');
  }
  return { createdMicros, id };
}
