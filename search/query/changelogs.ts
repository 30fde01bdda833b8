const changelog = /(?:^|\/)(?:change[-_]?log|changes|release[-_]?notes|whats[-_]?new)(?:\/|$)/i;
const change = /\d\.\d|\b(?:change|release|version|new\b|news|upgrad|breaking|deprecat)/i;

/** Reports whether a page lists the changes of a product, by its path. */
export function listsChanges(path: string): boolean {
  return changelog.test(path);
}

/** Reports whether a query may be about a change: it names a version, or uses a word such as "new". */
export function asksForChanges(query: string): boolean {
  return change.test(query);
}
