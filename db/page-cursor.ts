/** The cursor did not come from a page. */
export class InvalidCursorError extends Error {
  override name = 'InvalidCursorError';
}

export interface PageCursor {
  /** Microseconds since 1970 as text: a Date would lose precision of the sort key. */
  createdMicros: string;
  id: string;
}

const pattern = /^(\d{1,16}):([\w-]{1,64})$/;

/** Returns an opaque cursor for the last row of a page. */
export function encodeCursor({ createdMicros, id }: PageCursor): string {
  return Buffer.from(`${createdMicros}:${id}`).toString('base64url');
}

/** Returns the first rows of a page without the column of their cursor, and the cursor of the next page. */
export function pageOf<Row extends PageCursor>(
  rows: readonly Row[],
  limit: number,
): { rows: Omit<Row, 'createdMicros'>[]; nextCursor: string | null } {
  const page = rows.slice(0, limit);
  const shown = page.map((row) => {
    const { createdMicros: _, ...rest } = row;
    return rest;
  });
  return { rows: shown, nextCursor: rows.length > limit ? cursorOf(page.at(-1)) : null };
}

/** Returns the cursor of the position after a row; null when there is no row. */
export function cursorOf(row: PageCursor | undefined): string | null {
  return row === undefined ? null : encodeCursor(row);
}

/** Throws InvalidCursorError for a text that `encodeCursor` did not create. */
export function decodeCursor(text: string): PageCursor {
  const [, createdMicros, id] = pattern.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
  if (createdMicros === undefined || id === undefined || encodeCursor({ createdMicros, id }) !== text) {
    throw new InvalidCursorError('The cursor does not come from a page. Omit it to start with the newest.');
  }
  return { createdMicros, id };
}
