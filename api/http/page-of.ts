import { InvalidCursorError } from '../../db/page-cursor.ts';
import { invalidRequest } from './errors.ts';

/** Returns a page of a list. Throws 400 for an invalid cursor. */
export async function pageOf<Page>(list: () => Promise<Page>): Promise<Page> {
  try {
    return await list();
  } catch (error) {
    if (error instanceof InvalidCursorError)
      throw invalidRequest('The cursor is invalid. Use nextCursor of an earlier page.');
    throw error;
  }
}
