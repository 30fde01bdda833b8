/** Returns an anchor by GitHub's rule: lower case, punctuation removed, spaces become hyphens. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}

/** Returns a function that gives every heading of a page its own anchor: repeated ones get `-1`, `-2`. */
export function createAnchors() {
  const taken = new Set<string>();
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
      taken.add(id);
    },
    all(): string[] {
      return [...taken];
    },
  };
}
