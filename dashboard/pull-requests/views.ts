/** Views of the list of pull requests. Without a view, it shows all of them. */
export const pullViews = ['open', 'merged', 'closed'] as const;
export type PullView = (typeof pullViews)[number];
