/** Makes an infinite query read a list: each page begins at the cursor of the one before, the first without one. */
export const byCursor = {
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }: { nextCursor: string | null }) => nextCursor ?? undefined,
};

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
