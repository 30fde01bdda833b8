export type DiffLayout = 'unified' | 'split';

const layoutKey = 'docket-diff-layout';

/** As it was chosen last; before that, side by side where there is room. */
export function storedLayout(): DiffLayout {
  const stored = localStorage.getItem(layoutKey);
  if (stored === 'unified' || stored === 'split') return stored;
  return matchMedia('(min-width: 1100px)').matches ? 'split' : 'unified';
}

export function storeLayout(layout: DiffLayout): void {
  localStorage.setItem(layoutKey, layout);
}
