/** Reads all pages of a list. */
export async function allPages<Page extends { nextCursor: string | null }>(
  read: (query: { cursor?: string }) => Promise<Page>,
): Promise<Page[]> {
  const pages = [await read({})];
  for (;;) {
    const cursor = pages.at(-1)?.nextCursor ?? null;
    if (cursor === null) return pages;
    pages.push(await read({ cursor }));
  }
}
