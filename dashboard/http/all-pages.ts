/** Makes an infinite query read a list: each page begins at the cursor of the one before, the first without one. */
export const byCursor = {
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }: { nextCursor: string | null }) => nextCursor ?? undefined,
};

/** Returns when an infinite query reads its pages again: one page per `everyMs`, however many are open. */
export const pageEvery =
  (everyMs: number) =>
  ({ state: { data } }: { state: { data?: { pages: readonly unknown[] } } }) =>
    everyMs * (data?.pages.length ?? 1);

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
