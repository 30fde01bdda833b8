export type DiffLayout = 'unified' | 'split';

const layoutKey = 'docket-diff-layout';

/** Returns the layout that was chosen last. By default, it is side by side if there is room. */
export function storedLayout(): DiffLayout {
  const stored = localStorage.getItem(layoutKey);
  if (stored === 'unified' || stored === 'split') return stored;
  return matchMedia('(min-width: 1100px)').matches ? 'split' : 'unified';
}

export function storeLayout(layout: DiffLayout): void {
  localStorage.setItem(layoutKey, layout);
}
