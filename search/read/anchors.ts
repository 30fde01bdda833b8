/** Returns an anchor by GitHub's rule: lower case, punctuation removed, spaces become hyphens. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}

/**
 * Collects the anchors of a page. Every heading gets its own: repeated ones get `-1`, `-2`. Ids of other elements do not
 * change those of headings.
 */
export function createAnchors() {
  const taken = new Set<string>();
  const ids = new Set<string>();
  const repeats = new Map<string, number>();
  return {
    take(heading: string, explicit: string | null): string {
      const base = explicit ?? slugOf(heading);
      let anchor = base;
      let repeat = repeats.get(base) ?? 0;
      while (taken.has(anchor)) anchor = `${base}-${++repeat}`;
      repeats.set(base, repeat);
      taken.add(anchor);
      return anchor;
    },
    add(id: string): void {
      ids.add(id);
    },
    all(): string[] {
      return [...new Set([...taken, ...ids])];
    },
  };
}
